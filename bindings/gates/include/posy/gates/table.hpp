// A table of a database behind a gate: which one, and in which columns keys and values are.
#pragma once

#include <string>

namespace posy::gates {

struct table_columns {
    std::string table;  // in the schema that the connection finds first
    std::string key;    // should be indexed; rows without one (NULL) are not there
    std::string value;  // as text; NULL is the empty text
};

}  // namespace posy::gates
