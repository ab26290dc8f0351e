#pragma once

#include "call.hpp"

namespace posy::python {

void add_figures(nb::module_&);
// The level of an interval: an error unless it lies between 0 and 1.
void check_level(double);

}  // namespace posy::python
