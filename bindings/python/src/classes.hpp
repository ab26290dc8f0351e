// The parts of the module, one function per file.
#pragma once

#include "call.hpp"

namespace posy::python {

void add_counting(nb::module_&);
void add_sealed(nb::module_&);
void add_compressed(nb::module_&);
void add_sketches(nb::module_&);
void add_growing(nb::module_&);
void add_window(nb::module_&);
void add_deltas(nb::module_&);
void add_reconciliation(nb::module_&);
void add_foreign(nb::module_&);
void add_plan(nb::module_&);
void add_theory(nb::module_&);

}  // namespace posy::python
