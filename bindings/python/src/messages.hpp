#pragma once

#include "call.hpp"

namespace posy::python {

void add_messages(nb::module_&);

}  // namespace posy::python
