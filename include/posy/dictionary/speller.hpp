// The spelling checker: which words of a text are in none of the dictionaries, and what may have been meant.
//
// A word is right if a dictionary has it, or has it in lower case where it is Capitalised or in CAPITALS, or
// Capitalised where it is in CAPITALS; or if the rules of the dictionary's language form it from a word that
// is there (posy/dictionary/affixes.hpp). A word with hyphens is right as a whole or in all its parts. Words
// of one letter are right. A word that no dictionary has is asked for once more as it is written (a filter
// made elsewhere may have a typographic apostrophe), and with the dot, apostrophe or hyphen behind it
// ("etc.", "aujourd'", "pseudo-"); a part of a word with hyphens is not.
//
// A filter of rate f that is asked p questions about a misspelt word lets it pass with probability
// 1 - (1 - f)^p: as a word, as a part of one with hyphens that passes as a whole, or in another form. The
// checker counts its questions, so it can say how many misspelt words it has probably missed. Invariant: a
// word of a dictionary is never called misspelt.
//
// Cost: a question or two per different word, up to 50 for one that is in no dictionary; answers are kept.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "posy/dictionary/affixes.hpp"
#include "posy/dictionary/word_filter.hpp"

namespace posy::dictionary {

struct word_list {
    word_filter words;
    language rules = language::none;
};

class speller {
  public:
    explicit speller(std::vector<word_list> dictionaries) : dictionaries_(std::move(dictionaries)) {}

    struct verdict {
        bool right = false;
        double chance = 0;  // that a misspelt word passes as many questions
    };
    // One verdict per word; hyphens are letters like others.
    std::vector<verdict> judge(std::span<const std::string> words) const;

    struct misspelling {
        std::string word;    // or the part of a word with hyphens that is wrong
        std::size_t offset;  // of the word in the text
    };
    // In the order of the text. Memory: some 100 bytes per word; a large text comes in blocks (words.hpp).
    std::vector<misspelling> misspelt(std::string_view text);

    std::uint64_t words() const { return words_; }  // of all texts
    // How many different misspelt words have probably passed as false positives, judging by how many were
    // found.
    double expected_missed() const { return missed_; }
    const std::vector<word_list>& dictionaries() const { return dictionaries_; }

  private:
    struct known : verdict {
        bool counted = false;  // among those that were found
    };
    void learn(const std::vector<std::string>& words);
    void count(const std::string& wrong, double whole_fails);

    std::vector<word_list> dictionaries_;
    std::unordered_map<std::string, known> known_;
    std::uint64_t words_ = 0;
    double missed_ = 0;
};

// The forms of a word that a dictionary may have: itself, and with fewer capitals.
std::vector<std::string> case_forms(std::string_view word);

}  // namespace posy::dictionary
