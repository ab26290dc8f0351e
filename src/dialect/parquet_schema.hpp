// What the schema in a Parquet file's footer says of a column beyond its type.
#pragma once

#include <string>

#include "posy/bytes.hpp"

namespace posy::foreign {

// Whether the column of this path, with dots, has decimal numbers. No, if the schema does not know it.
bool is_decimal_column(byte_view footer, const std::string& column);

}  // namespace posy::foreign
