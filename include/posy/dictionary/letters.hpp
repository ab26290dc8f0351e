// What texts need to know of Unicode: which characters are letters, their case, and accents.
//
// Above ASCII every character is a letter unless it lies in a block of punctuation or symbols, or of a script
// that does not separate its words (Chinese, Japanese, Korean, Thai); text in those is not cut into words.
// Case is known of the alphabets that have it: Latin, Greek, Cyrillic, Armenian. Cost: a search in a short
// table for characters above ASCII. Thread safety: functions of their arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace posy::dictionary {

// A byte that is no part of a character of UTF-8; no letter.
inline constexpr char32_t no_character = 0xfffd;

// Of one character as characters() gives it (posy/dictionary/edits.hpp).
char32_t code_point(std::string_view character);
void append(std::string& text, char32_t character);
std::u32string code_points(std::string_view text);
std::string utf8(std::u32string_view text);

bool is_letter(char32_t);
char32_t lower(char32_t);
char32_t upper(char32_t);
std::string lower(std::string_view text);

// How a word is written. One capital alone is `capitalised`.
enum class capitals { none, first, all, mixed };
capitals capitals_of(std::string_view word);
// The first letter as it is or as a capital, and the others as they are or in lower case.
std::string with_first_capital(std::string_view word, bool others_lower);

// An accent by its names: in HTML's entities (eacute), in LaTeX (\'e), and as a combining character.
struct accent {
    std::string_view entity;
    char latex;
    char32_t combining;
    std::u32string_view letters;  // in pairs: without and with it
};
const accent* accent_of_entity(std::string_view name);
const accent* accent_of_latex(char);
const accent* accent_of_combining(char32_t);
// The letter with the accent, if there is one character for it.
std::optional<char32_t> compose(char32_t letter, const accent&);
// The letter without its accent.
char32_t bare(char32_t letter);

}  // namespace posy::dictionary
