// The words of a text, as a spelling checker wants them.
//
// A word is a run of letters, with apostrophes and single hyphens between letters: "don't", "well-known". It
// is given in one form however it is written: a typographic apostrophe as ', a letter and a combining accent
// as one character, without soft hyphens and the bytes that stand for nothing (posy/dictionary/markup.hpp).
// What has digits or underscores beside its letters is no word (x86, 3rd, a_name), nor are addresses, paths
// (/usr/share) and runs of more than 64 letters.
//
// Cost: one pass. Thread safety: a function of its argument.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace posy::dictionary {

// In place of markup inside of a word that is to be read as one: w<b>o</b>rd.
inline constexpr char nothing = '\0';
inline constexpr std::size_t longest_word = 64;  // characters

// Calls use(word, offset of its first byte in the text).
void for_each_word(std::string_view text,
                   const std::function<void(const std::string& word, std::size_t offset)>& use);

}  // namespace posy::dictionary
