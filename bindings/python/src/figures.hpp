#pragma once

#include "call.hpp"

namespace posy::python {

void add_figures(nb::module_&);

}  // namespace posy::python
