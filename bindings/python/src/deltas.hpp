#pragma once

#include "posy/delta.hpp"

namespace posy::python {

// posy.Delta.
struct delta_object {
    filter_delta delta;
};

}  // namespace posy::python
