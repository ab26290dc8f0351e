// What may have been meant by a misspelt word: words of the dictionaries that are one edit away from it, or
// two where one leads to none.
//
// A filter cannot list its words, so every edit is a question: some 500 for a word of eight letters, and
// 150,000 at distance two. A filter of rate f answers so many times f of them wrongly, and a wrong answer is
// a suggestion that is no word: `expected_false` says how many there are on average. Distance two is asked
// only as long as that is at most one half.
//
// Suggestions are ranked by the least cost of the edits between the two words, where common slips cost less:
// neighbours swapped, a letter doubled or not, an apostrophe, a vowel for a vowel, an accent. A changed first
// letter costs more. Thread safety: functions of their arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posy/dictionary/speller.hpp"

namespace posy::dictionary {

struct suggestions {
    std::vector<std::string> words;  // the best first
    double expected_false = 0;       // of these, on average
};

suggestions suggest(const std::vector<word_list>& dictionaries, std::string_view word, std::size_t most);

// How unlike two words are: the least cost of edits that lead from one to the other.
double unlikeness(std::string_view written, std::string_view meant);

}  // namespace posy::dictionary
