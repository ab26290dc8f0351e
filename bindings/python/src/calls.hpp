#pragma once

#include "call.hpp"

namespace posy::python {

// Errors about the arguments of all functions of a module, and of its classes and modules, name the argument.
// To be called when all are defined.
void add_explanations(nb::handle owner);

}  // namespace posy::python
