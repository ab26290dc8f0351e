// Affixes: words that are formed from others, and the words that they may be formed from.
//
// The first checkers of UNIX kept stems and took endings and prefixes off the words of a text (McIlroy 1982,
// "Development of a Spelling List"): "unlocked" passes because "lock" is in the list. A rule says what an
// ending stands for ("ies" for "y") and what it must not follow, so that "tries" comes from "try" and "trys",
// "makeing" and "stoped" come from nothing. The rules do not know which words take which ending: "sheeps"
// passes. Whoever does not want that asks for no rules.
//
// Cost: a word has at most `most_stems` stems, and each is one more question to the filter, which makes that
// many times as many misspelt words pass. Thread safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace posy::dictionary {

// Whose rules, and which letters suggestions are made of.
enum class language : std::uint8_t { none, english, french, german };

constexpr std::string_view name_of(language member) {
    switch (member) {
        case language::none:
            return "none";
        case language::english:
            return "english";
        case language::french:
            return "french";
        case language::german:
            return "german";
    }
    return {};
}

// By the name of a dictionary's file, as Debian names them: american-english, french, ngerman.
language language_of(std::string_view file_name);

inline constexpr std::size_t most_stems = 48;

// The words that this one may be formed from, without the word itself; none twice.
std::vector<std::string> stems(std::string_view word, language);

// The letters of the language, small, and the apostrophe.
std::string_view letters_of(language);

}  // namespace posy::dictionary
