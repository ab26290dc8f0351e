#include "posy/dictionary/speller.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <unordered_set>

#include "posy/dictionary/suggestions.hpp"
#include "statistics.hpp"

namespace posy::dictionary {
namespace {

using texts = std::vector<std::string>;

word_list list_of(const std::vector<std::string_view>& words, language rules = language::none,
                  double rate = 0x1p-32) {
    return {*word_filter::seal(words, rate), rules};
}

texts misspelt(speller by, std::string_view text) {
    texts all;
    for (const auto& each : by.misspelt(text)) all.push_back(each.word);
    return all;
}

TEST(speller, accepts_fewer_capitals_than_the_text_has) {
    const speller by({list_of({"word", "London", "McDonald", "NATO"})});
    EXPECT_EQ(misspelt(by, "word Word WORD London LONDON McDonald NATO"), texts{});
    EXPECT_EQ(misspelt(by, "london wOrd mcdonald nato Nato"),
              (texts{"london", "wOrd", "mcdonald", "nato", "Nato"}));
}

TEST(speller, takes_words_with_hyphens_as_a_whole_or_in_parts) {
    const speller by({list_of({"well", "known", "vis-à-vis"})});
    EXPECT_EQ(misspelt(by, "well-known vis-à-vis Well-Known"), texts{});
    speller again = by;
    const auto found = again.misspelt("a well-knwon");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].word, "knwon");
    EXPECT_EQ(found[0].offset, 7U);
}

TEST(speller, asks_for_words_as_they_are_written_and_with_their_mark) {
    const speller by({list_of({"O\u2019Reilly", "cafe\u0301", "etc.", "aujourd'", "pseudo-"})});
    EXPECT_EQ(misspelt(by, "O\u2019Reilly cafe\u0301 etc. aujourd' pseudo-"), texts{});
    EXPECT_EQ(misspelt(by, "etc aujourd"), (texts{"etc", "aujourd"}));
    EXPECT_EQ(misspelt(by, "wrong. wrong\u2019"), (texts{"wrong", "wrong"}));
}

TEST(speller, accepts_what_any_dictionary_has_by_its_own_rules) {
    const speller by(
        {list_of({"walk"}, language::english), list_of({"été"}, language::french), list_of({"Zug"})});
    EXPECT_EQ(misspelt(by, "walk walking Walked l'été Zug"), texts{});
    EXPECT_EQ(misspelt(by, "Zugs"), (texts{"Zugs"}));
    EXPECT_EQ(misspelt(speller({list_of({"walk"})}), "walking"), (texts{"walking"}));
}

TEST(speller, counts_words_and_tells_where_they_are) {
    speller by({list_of({"one"})});
    const auto found = by.misspelt("one\ntoo one too");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].offset, 4U);
    EXPECT_EQ(found[1].offset, 12U);
    EXPECT_EQ(by.words(), 4U);
}

std::string random_word(std::mt19937_64& random) {
    std::string word;
    for (std::uint64_t left = 6 + random() % 6; left > 0; --left)
        word += static_cast<char>('a' + random() % 26);
    return word;
}

// Of words that no dictionary has, as many pass as the questions about them predict: with a capital there are
// two, and stems are further ones. 4.5 deviations: a false alarm in 150,000 runs with other seeds.
TEST(speller, lets_misspelt_words_pass_as_predicted) {
    std::mt19937_64 random(11);
    texts words;
    for (int i = 0; i < 5000; ++i) words.push_back(random_word(random));
    const std::vector<std::string_view> views(words.begin(), words.end());
    const speller by({list_of(views, language::english, 0.01)}), truth({list_of(views, language::english)});
    texts others;
    for (int i = 0; i < 40000; ++i) {
        std::string word = random_word(random) + (i % 4 == 0 ? "ness" : "");
        if (i % 2 == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
        others.push_back(word);
    }
    const auto verdicts = by.judge(others), exact = truth.judge(others);
    bernoulli passed(39000, "misspelt words");
    double chances = 0, found = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (exact[i].right) continue;
        // What it takes to ask is known of those that did not pass early: stems are asked about last.
        passed.add(verdicts[i].right,
                   exact[i].chance / 0x1p-32 * by.dictionaries()[0].words.false_positive_rate());
        if (verdicts[i].right) continue;
        chances += verdicts[i].chance / (1 - verdicts[i].chance);
        ++found;
    }
    passed.expect(4.5, 0.02 * passed.expected());  // 1 - (1 - f)^p is a little less than p f
    EXPECT_NEAR(chances, passed.yes(), 4.5 * std::sqrt(chances) + 0.02 * chances);
    EXPECT_EQ(by.judge(words).size(), words.size());
    for (const auto& each : by.judge(words)) EXPECT_TRUE(each.right);
}

// In a text there are further questions: about a word with hyphens as a whole, and with the dot behind
// it. 4.5 deviations, as above; two parts that pass as one whole pass together, which doubles the variance of
// these.
TEST(speller, says_how_many_misspelt_words_of_a_text_it_has_missed) {
    std::mt19937_64 random(12);
    texts words;
    for (int i = 0; i < 5000; ++i) words.push_back(random_word(random));
    const std::vector<std::string_view> views(words.begin(), words.end());
    speller by({list_of(views, language::english, 0.01)}), truth({list_of(views, language::english)});
    std::string text;
    for (int i = 0; i < 40000; ++i) {
        std::string word = random_word(random) + (i % 4 == 0 ? "-" + random_word(random) : "");
        if (i % 2 == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
        text += word + (i % 3 == 0 ? ". " : "\n");
    }
    std::unordered_set<std::string> found;
    for (const auto& each : by.misspelt(text)) found.insert(each.word);
    double missed = 0;
    std::unordered_set<std::string> all;
    for (const auto& each : truth.misspelt(text))
        if (all.insert(each.word).second) missed += found.contains(each.word) ? 0 : 1;
    EXPECT_GT(all.size(), 49000U);
    EXPECT_NEAR(by.expected_missed(), missed, 4.5 * std::sqrt(1.5 * missed));
    EXPECT_LT(truth.expected_missed(), 0.001);
}

TEST(suggestions, are_one_edit_away_and_the_likeliest_first) {
    const std::vector<word_list> in = {list_of(
        {"the", "tea", "ten", "receive", "relieve", "London", "a", "lot", "allot", "separate", "letter", "I"},
        language::english)};
    EXPECT_EQ(suggest(in, "teh", 9).words, (texts{"the", "tea", "ten"}));
    EXPECT_EQ(suggest(in, "teh", 1).words, (texts{"the"}));
    EXPECT_EQ(suggest(in, "teh", 0).words, texts{});
    EXPECT_EQ(suggest(in, "recieve", 9).words, (texts{"receive", "relieve"}));
    EXPECT_EQ(suggest(in, "london", 9).words, (texts{"London"}));
    EXPECT_EQ(suggest(in, "Teh", 1).words, (texts{"The"}));
    EXPECT_EQ(suggest(in, "SEPERATE", 9).words, (texts{"SEPARATE"}));
    EXPECT_EQ(suggest(in, "alot", 9).words, (texts{"a lot", "allot", "lot"}));
    EXPECT_EQ(suggest(in, "xyzzyq", 9).words, texts{});
}

TEST(suggestions, are_two_edits_away_where_one_leads_to_none) {
    const std::vector<word_list> in = {list_of({"separate", "rhythm"})};
    EXPECT_EQ(suggest(in, "seperete", 9).words, (texts{"separate"}));
    EXPECT_EQ(suggest(in, "rythym", 9).words, (texts{"rhythm"}));
    const auto vague = suggest({list_of({"separate"}, language::none, 0.001)}, "seperete", 9).words;
    EXPECT_EQ(std::ranges::count(vague, "separate"), 0) << "too many false positives to ask";
}

TEST(suggestions, say_how_many_of_them_are_false) {
    std::vector<std::string> words;
    std::mt19937_64 random(5);
    for (int i = 0; i < 5000; ++i) words.push_back(random_word(random));
    const std::vector<word_list> in = {list_of({words.begin(), words.end()}, language::none, 0.01)};
    double expected = 0, found = 0;
    for (int i = 0; i < 100; ++i) {
        const auto s = suggest(in, random_word(random), 1000);
        expected += s.expected_false;
        found += static_cast<double>(s.words.size());
    }
    // Those that differ in their capitals alone, and pairs of false halves, are one percent; 4.5 deviations.
    EXPECT_NEAR(found, expected, 4.5 * std::sqrt(expected) + 0.01 * expected);
    EXPECT_GT(found, 500);
}

TEST(suggestions, rank_by_common_slips) {
    EXPECT_LT(unlikeness("teh", "the"), unlikeness("teh", "tech"));
    EXPECT_LT(unlikeness("embarass", "embarrass"), unlikeness("embarass", "embargass"));
    EXPECT_LT(unlikeness("seperate", "separate"), unlikeness("seperate", "sewerate"));
    EXPECT_LT(unlikeness("cafe", "café"), unlikeness("cafe", "cape"));
    EXPECT_LT(unlikeness("lettre", "letter"), unlikeness("lettre", "bettre"));
    EXPECT_EQ(unlikeness("same", "same"), 0);
}

}  // namespace
}  // namespace posy::dictionary
