// Whether a file is a list of passwords. That is one kind of sealed filter, known by a mark.
#pragma once

#include "posy/message.hpp"

namespace posy::tool {

// What `posy password seal` made. A list with a rate of 1e-4 or more is not told from other sealed filters:
// by chance, too many of these have its mark.
bool is_password_list(const any_body&);

}  // namespace posy::tool
