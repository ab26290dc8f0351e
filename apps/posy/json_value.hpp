// The value at a path in a line of JSON.
//
// The line is parsed to its end, so that what is not JSON is noticed, and nothing of it is kept but the
// value. An integer is the text that JSON has for it, however large: as a number, all from 2^64 on would be
// rounded, and different ones would be one key. Of a name that an object has twice, the last counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posy::tool {

using json_steps = std::vector<std::string>;  // names of members, or numbers of elements counted from 0

// user.id, .user.id or /user/id, the last with ~0 for ~ and ~1 for /. Throws failure.
json_steps parse_json_path(std::string text);

// Strings as they are, numbers and truth values as JSON writes them; null, objects and arrays are no values.
std::optional<std::string> json_value(std::string_view line, const json_steps&);

}  // namespace posy::tool
