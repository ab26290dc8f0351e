// posy.ForeignFilter, and how bytes become one.
#pragma once

#include "call.hpp"
#include "files.hpp"
#include "posy/dialect/foreign_filter.hpp"

namespace posy::python {

using foreign_object = object<std::unique_ptr<foreign_filter>>;

std::unique_ptr<foreign_object> foreign_of_bytes(byte_view, std::optional<dialect> as = {},
                                                 const dialect_options& = {});

}  // namespace posy::python
