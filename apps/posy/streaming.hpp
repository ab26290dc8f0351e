// Messages as lines of text, as Hadoop streaming and its like carry them from mappers to reducers: a key,
// which is always "filter", a tab, and the message in base64. So all lines meet in one reducer.
//
// A mapper that ran twice leaves its line twice. Equal lines count once, wherever the shuffle put them: the
// bits of a union would be the same, but not its number of items.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tool.hpp"

namespace posy::tool {

void print_streaming(body_ref);
// Calls use(message, name of its file and line) for each different line of these files, of which - is
// standard input.
void for_each_streamed(const std::vector<std::string>& paths,
                       const std::function<void(message, const std::string&)>& use, const read_limits&);

}  // namespace posy::tool
