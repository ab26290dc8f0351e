#pragma once

#include "call.hpp"
#include "posy/delta.hpp"

namespace posy::python {

// posy.Delta.
using delta_object = object<filter_delta>;

}  // namespace posy::python
