// Hyphenation as Bloom had it (1970): simple rules divide nine words in ten, the others are looked up in a
// table on disk, and a filter in memory says which these may be.
//
// The rules are the patterns that matter to most words; the exceptions are the words of a list that the rules
// divide differently from all patterns. Invariant: a word of that list is divided as by all patterns. A false
// positive of the filter costs a look into the table, which does not have the word, and the rules hold. A
// word that is not in the list is divided by the rules alone.
//
// Cost: the rules, a few bits per exception, and one access to the table for each exception and for a share f
// of the other words. Thread safety: none; the table is read through a view of its file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "posy/dictionary/hyphen_patterns.hpp"
#include "posy/dictionary/word_filter.hpp"

namespace posy::dictionary {

// What a hyphenator is made of.
struct hyphenation {
    hyphen_patterns rules;
    std::vector<std::string> exceptions;  // divided: "ta-ble"; sorted by the words
    std::uint64_t words = 0;              // different ones, in lower case and without hyphens

    double share_by_rules() const {
        return words == 0 ? 1 : 1 - static_cast<double>(exceptions.size()) / static_cast<double>(words);
    }
    // The table: a line per exception.
    std::string table() const;
};

// The fewest rules, of patterns in the order of how many words they matter to, that divide this share of the
// words as all patterns do.
hyphenation choose_rules(const hyphen_patterns&, std::span<const std::string> words, double share);

// Lines as hyphenation::table() has them, found by halving. Any bytes are a table; one that is not sorted
// loses words.
class hyphen_table {
  public:
    explicit hyphen_table(std::string_view lines) : lines_(lines) {}
    // The points of the word, which is in lower case, if it is there.
    std::optional<std::vector<std::size_t>> find(std::string_view word) const;

  private:
    std::string_view lines_;
};

class hyphenator {
  public:
    hyphenator(hyphen_patterns rules, word_filter exceptions, hyphen_table table)
        : rules_(std::move(rules)), exceptions_(std::move(exceptions)), table_(table) {}

    // One answer per word: the word with hyphens. A word that has hyphens is taken in parts.
    std::vector<std::string> divide(std::span<const std::string> words, std::string_view hyphen = "-");

    struct tally {
        std::uint64_t words = 0, accesses = 0, exceptions = 0;
        double rate = 0;  // of the filter
        std::uint64_t saved() const { return words - accesses; }
        std::uint64_t false_accesses() const { return accesses - exceptions; }
        double expected_false_accesses() const { return static_cast<double>(words - exceptions) * rate; }
    };
    tally total() const { return total_; }

  private:
    hyphen_patterns rules_;
    word_filter exceptions_;
    hyphen_table table_;
    tally total_;
};

}  // namespace posy::dictionary
