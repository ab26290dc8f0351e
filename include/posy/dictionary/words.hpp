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

// The word in its one form, the offset of its first byte in the text, and the bytes that it has there.
using use_word = std::function<void(const std::string& word, std::size_t offset, std::string_view written)>;
void for_each_word(std::string_view text, const use_word& use);

// A line of a word list in the form that words of texts have; other characters stay as they are.
std::string normal_form(std::string_view line);

// Calls use(block, its offset) for pieces of whole lines, of some 64 KiB or one line that is longer, so that
// what is kept per word is bounded by the block. No word goes over the end of a line.
void for_each_block(std::string_view text,
                    const std::function<void(std::string_view block, std::size_t offset)>& use);

}  // namespace posy::dictionary
