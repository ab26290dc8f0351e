// Every text that is one edit away from a word: two neighbouring characters swapped, one deleted, one
// replaced, or one inserted. These are what a filter is asked to find a word through a typo (Manber and Wu
// 1994).
//
// A character is one of UTF-8; a byte that belongs to none stands alone, so that any bytes are a word.
// Invariant: every such text is given once, and the word itself never. Cost: a word of L characters has at
// most (2 L + 1) s + 2 L - 1 of them over an alphabet of s, and each is written as a whole: some L bytes.
// Thread safety: functions of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posy::dictionary {

enum class edit : std::uint8_t { swapped, deleted, replaced, inserted };

// The first character of a text that is not empty.
std::string_view first_character(std::string_view text);
// Of a text, in its order. An alphabet is the characters of a text, each once: alphabet("abc").
std::vector<std::string_view> characters(std::string_view text);
std::vector<std::string_view> alphabet(std::string_view text);
std::string_view printable_ascii();

// The most edits that a word of so many characters has.
constexpr std::size_t most_edits(std::size_t length, std::size_t alphabet) {
    return (2 * length + 1) * alphabet + 2 * length - (length > 0 ? 1 : 0);
}

// Calls use(text, edit) for each edit until one returns true; whether one did. The text is valid during the
// call; it is made in `text`, for those who wipe it.
template <class Use>
bool any_edit(std::string_view word, std::span<const std::string_view> letters, Use use, std::string& text) {
    const std::vector<std::string_view> all = characters(word);
    const std::size_t length = all.size();
    const auto before = [&](std::size_t i) {
        const auto bytes = i < length ? static_cast<std::size_t>(all[i].data() - word.data()) : word.size();
        return word.substr(0, bytes);
    };
    const auto from = [&](std::size_t i) { return word.substr(before(i).size()); };
    const auto put = [&](auto... parts) -> const std::string& {
        text.clear();
        (text.append(parts), ...);
        return text;
    };
    for (std::size_t i = 0; i + 1 < length; ++i) {
        if (all[i] != all[i + 1] && use(put(before(i), all[i + 1], all[i], from(i + 2)), edit::swapped))
            return true;
    }
    for (std::size_t i = 0; i < length; ++i) {  // of equal neighbours any: the text is the same
        if ((i == 0 || all[i] != all[i - 1]) && use(put(before(i), from(i + 1)), edit::deleted)) return true;
    }
    for (std::size_t i = 0; i < length; ++i) {
        for (const std::string_view letter : letters) {
            if (letter != all[i] && use(put(before(i), letter, from(i + 1)), edit::replaced)) return true;
        }
    }
    for (std::size_t i = 0; i <= length; ++i) {
        for (const std::string_view letter : letters) {
            if ((i == 0 || letter != all[i - 1]) && use(put(before(i), letter, from(i)), edit::inserted))
                return true;
        }
    }
    return false;
}
template <class Use>
bool any_edit(std::string_view word, std::span<const std::string_view> letters, Use use) {
    std::string text;
    return any_edit(word, letters, use, text);
}

}  // namespace posy::dictionary
