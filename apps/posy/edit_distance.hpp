// How many edits lie between two words: characters inserted, deleted, replaced, or two neighbours swapped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posy::tool {

// O(product of the lengths).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The word that is nearest to this one, if one is near enough to be what was meant: a third of its letters
// may be wrong.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& among);

}  // namespace posy::tool
