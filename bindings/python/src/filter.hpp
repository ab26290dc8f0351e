// posy.Filter: a Bloom filter as a set of Python's, as far as it is one.
//
// Single keys cost what hashing and looking up cost; batches run without the interpreter's lock. Thread
// safety: all calls. Changes wait for each other; lookups wait for nothing, since bits are only ever set
// while keys are inserted.
#pragma once

#include "call.hpp"
#include "posy/bloom_filter.hpp"

namespace posy::python {

using filter_object = object<bloom_filter>;

void add_filter(nb::module_&);
// What concerns a filter as a whole: algebra, files, figures.
void add_filter_whole(nb::class_<filter_object>&);

}  // namespace posy::python
