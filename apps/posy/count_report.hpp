// What `posy count` prints: lists of keys, for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "count_options.hpp"
#include "posy/distinct_hitters.hpp"
#include "posy/group_hitters.hpp"
#include "posy/heavy_hitters.hpp"

namespace posy::tool {

// An estimate, a tab and the key.
std::string count_line(const count_options&, std::uint64_t estimate, std::string_view key);

std::string text_of(const count_options&, const count_min&, const heavy_hitters::list&);
// On standard error: a count that is at the largest value of its counter, or below what the sketch may err
// by.
void warn_of_errors(const count_min&, const std::vector<heavy_hitter>&);
// With the group between estimate and key.
std::string text_of(const count_options&, const group_hitters&);
// The number of different values takes the place of the count.
std::string text_of(const count_options&, const distinct_hitters&);

}  // namespace posy::tool
