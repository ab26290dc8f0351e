#include "posy/dictionary/hyphenator.hpp"

#include <gtest/gtest.h>

#include "statistics.hpp"

namespace posy::dictionary {
namespace {

using texts = std::vector<std::string>;

// Liang's own example, which divides "hyphenation" as his thesis shows.
constexpr std::string_view of_liang = "hy3ph\nhe2n\nhena4\nhen5at\n1na\nn2at\n1tio\n2io\no2n\n";

TEST(hyphen_patterns, divide_as_liang_did) {
    const auto all = *hyphen_patterns::parse(of_liang);
    EXPECT_EQ(with_hyphens("hyphenation", all.points("hyphenation")), "hy-phen-ation");
    EXPECT_EQ(with_hyphens("Hyphenation", all.points("Hyphenation")), "Hy-phen-ation");
    EXPECT_EQ(with_hyphens("HYPHENATION", all.points("HYPHENATION"), "\u00ad"), "HY\u00adPHEN\u00adATION");
    EXPECT_TRUE(all.points("").empty());
    EXPECT_TRUE(all.points("hy").empty());
}

TEST(hyphen_patterns, keep_their_distance_from_the_ends) {
    const auto all =
        *hyphen_patterns::parse("UTF-8\nLEFTHYPHENMIN 3\nRIGHTHYPHENMIN 2\n% comment\na1b\n.x1a\n");
    EXPECT_EQ(with_hyphens("ababab", all.points("ababab")), "aba-bab");
    EXPECT_EQ(with_hyphens("éébababb", hyphen_patterns::parse("é1b\n")->points("éébababb")), "éé-bababb");
}

TEST(hyphen_patterns, are_written_as_they_are_read) {
    const auto all = *hyphen_patterns::parse(of_liang);
    const auto again = *hyphen_patterns::parse(all.text());
    EXPECT_EQ(again.text(), all.text());
    EXPECT_EQ(again.size(), 9U);
    EXPECT_EQ(hyphen_patterns::parse("ISO8859-1\n\xe9"
                                     "1b\n")
                  ->text(),
              "UTF-8\nLEFTHYPHENMIN 2\nRIGHTHYPHENMIN 3\né1b\n");
}

TEST(hyphen_patterns, that_cannot_be_read_are_named) {
    const auto text = [](std::string_view file) { return hyphen_patterns::parse(file).error().text(); };
    EXPECT_NE(text("").find("no patterns"), std::string::npos);
    EXPECT_NE(text("a1b\n12\n").find("line 2"), std::string::npos);
    EXPECT_NE(text("LEFTHYPHENMIN x\n").find("line 1"), std::string::npos);
    EXPECT_NE(text("a1b\nNEXTLEVEL\n").find("not supported"), std::string::npos);
    EXPECT_NE(text("a1b\n" + std::string(200, 'x')).find("line 2"), std::string::npos);
}

// Words of a small language: consonant, vowel, consonant, vowel …; it has a rule, and exceptions.
struct language_of_test {
    hyphen_patterns patterns = *hyphen_patterns::parse("1ba\n1da\n1ga\n.ba4da\nga4bada\n1ka\n");
    texts words;

    language_of_test() {
        const std::string syllables[] = {"ba", "da", "ga", "ka"};
        for (int n = 0; n < 4 * 4 * 4 * 4 * 4; ++n) {
            std::string word;
            for (int rest = n, i = 0; i < 5; ++i, rest /= 4) word += syllables[rest % 4];
            words.push_back(word);
        }
    }
};

TEST(hyphenator, takes_as_few_rules_as_do_the_share) {
    const language_of_test of;
    const auto all = choose_rules(of.patterns, of.words, 1);
    EXPECT_TRUE(all.exceptions.empty());
    EXPECT_EQ(all.words, of.words.size());
    const auto most = choose_rules(of.patterns, of.words, 0.9);
    EXPECT_GE(most.share_by_rules(), 0.9);
    EXPECT_LT(most.rules.size(), all.rules.size());
    EXPECT_FALSE(most.exceptions.empty());
    const auto none = choose_rules(of.patterns, of.words, 0);
    EXPECT_EQ(none.rules.size(), 0U);
}

// As by all patterns, whatever share the rules do and however often the filter is wrong.
TEST(hyphenator, divides_the_words_of_its_list_as_all_patterns_do) {
    const language_of_test of;
    at_least checks(2 * 1024);
    for (const double share : {0.5, 0.9}) {
        const auto made = choose_rules(of.patterns, of.words, share);
        texts letters;
        for (std::string each : made.exceptions) {
            std::erase(each, '-');
            letters.push_back(each);
        }
        const std::string table = made.table();
        const std::vector<std::string_view> views(letters.begin(), letters.end());
        hyphenator by(made.rules, *word_filter::seal(views, 0.25), hyphen_table(table));
        const auto divided = by.divide(of.words);
        for (std::size_t i = 0; i < divided.size(); ++i) {
            EXPECT_EQ(divided[i], with_hyphens(of.words[i], of.patterns.points(of.words[i])));
            ++checks;
        }
        const auto total = by.total();
        EXPECT_EQ(total.words, of.words.size());
        EXPECT_EQ(total.exceptions, made.exceptions.size());
        EXPECT_GT(total.saved(), 0U);
        // In vain as often as the filter's rate says: 4.5 deviations, a false alarm in 150,000 runs.
        const double expected = total.expected_false_accesses();
        EXPECT_NEAR(static_cast<double>(total.false_accesses()), expected, 4.5 * std::sqrt(expected));
    }
}

TEST(hyphenator, takes_words_with_hyphens_in_parts) {
    const language_of_test of;
    const std::vector<std::string_view> exception = {"kaka"};
    hyphenator by(of.patterns, *word_filter::seal(exception, 0x1p-32), hyphen_table("kaka\n"));
    const texts words = {"bakaba-Kaka", "bagaga", "-", ""};
    EXPECT_EQ(by.divide(words), (texts{"ba-kaba-Kaka", "ba-gaga", "-", ""}));
}

TEST(hyphen_table, finds_what_it_has) {
    const hyphen_table table("al-pha\nbeta\ngam-ma\n");
    EXPECT_EQ(table.find("alpha"), std::vector<std::size_t>{2});
    EXPECT_EQ(table.find("beta"), std::vector<std::size_t>{});
    EXPECT_EQ(table.find("gamma"), std::vector<std::size_t>{3});
    for (const char* word : {"", "a", "alph", "alphaa", "delta", "zeta"})
        EXPECT_FALSE(table.find(word)) << word;
    EXPECT_FALSE(hyphen_table("").find("x"));
    EXPECT_FALSE(hyphen_table("\n\n\n").find("x"));
    EXPECT_FALSE(hyphen_table("no end of line").find("x"));
}

}  // namespace
}  // namespace posy::dictionary
