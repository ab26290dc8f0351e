// Approximate membership after Manber and Wu (1994): is the key, or anything one typo away from it, in the
// set?
//
// The edits of a word (posy/dictionary/edits.hpp) are a thousand probes or two, so the filter's rate must be
// far below one in a thousand for an answer of yes to mean much. The tool says so when it is not.
//
// Every probe hashes the whole word, so a word costs 2 (L + 1) (s + 1) L bytes of hashing: a word of 1,024
// characters a fifth of a gigabyte, some 50 milliseconds. Longer ones are refused.
#pragma once

#include <functional>
#include <string_view>

namespace posy::tool {

inline constexpr std::size_t longest_near = 1024;  // bytes of a key

// Precondition: the key is no longer than that.
bool may_contain_near(const std::function<bool(std::string_view)>& test, std::string_view key,
                      std::string_view alphabet);
void warn_if_near_is_vague(double false_positive_rate, std::string_view alphabet);

}  // namespace posy::tool
