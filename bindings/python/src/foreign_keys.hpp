// Keys of posy.ForeignFilter. A column of a Parquet file has a type: a key of another one is a TypeError, and
// where it has numbers, keys are those of Python.
#pragma once

#include "foreign.hpp"

namespace posy::python {

// add, update, `in` and contains().
void add_foreign_keys(nb::class_<foreign_object>&);

}  // namespace posy::python
