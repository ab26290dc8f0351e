// Where a word can be divided, by patterns (Liang 1983, "Word Hy-phen-a-tion by Com-put-er").
//
// A pattern is some letters and, between them, levels: "hy3ph" says that a word with "hyph" in it can be
// divided after "hy". At every place of a word the highest level counts, of all patterns that match there;
// the word can be divided where it is odd. A dot is the start or end of the word. Patterns are read from the
// files that Debian has for LibreOffice (hyph_en_US.dic) and from TeX's lists, one pattern per line.
//
// Cost: a search in a hash table per place and length of a pattern; some 2 µs per word. Thread safety:
// immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posy/result.hpp"

namespace posy::dictionary {

class hyphen_patterns {
  public:
    // At most some megabytes of text. The error names the line.
    static result<hyphen_patterns> parse(std::string_view file);
    // The file, which parse() reads.
    std::string text() const;

    std::size_t size() const { return patterns_.size(); }
    // Before which bytes of the word a hyphen may stand.
    std::vector<std::size_t> points(std::string_view word) const;

    // A pattern that matches a word, and where its first level is among those of the word.
    struct match {
        std::uint32_t pattern;  // its index
        std::uint32_t place;
    };
    std::vector<match> matches(std::string_view word) const;
    // The levels of all places of the word with its dots, by those matches whose pattern is accepted.
    template <class Accepts>
    std::vector<std::uint8_t> levels(std::string_view word, const std::vector<match>& all,
                                     Accepts accepts) const {
        std::vector<std::uint8_t> highest(word.size() + 3);
        for (const match& each : all) {
            if (!accepts(each.pattern)) continue;
            const std::string& of = patterns_[each.pattern].levels;
            for (std::size_t i = 0; i < of.size(); ++i) {
                const auto level = static_cast<std::uint8_t>(of[i]);
                if (level > highest[each.place + i]) highest[each.place + i] = level;
            }
        }
        return highest;
    }
    std::vector<std::size_t> points(std::string_view word, const std::vector<std::uint8_t>& levels) const;
    // Those with these indices alone.
    hyphen_patterns subset(const std::vector<std::uint32_t>& which) const;

  private:
    struct pattern {
        std::string letters, levels;  // one level more than bytes of letters
    };
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    result<void> add(std::string_view line, std::size_t number);
    void add(pattern);

    std::vector<pattern> patterns_;
    std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> index_;
    std::size_t longest_ = 0, left_ = 2, right_ = 3;  // characters that are left before and behind a hyphen
};

// The word with hyphens at these points.
std::string with_hyphens(std::string_view word, const std::vector<std::size_t>& points,
                         std::string_view hyphen = "-");

}  // namespace posy::dictionary
