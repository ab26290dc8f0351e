#include "posy/dictionary/affixes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace posy::dictionary {
namespace {

bool comes_from(std::string_view word, std::string_view stem, language by = language::english) {
    const auto all = stems(word, by);
    return std::ranges::find(all, stem) != all.end();
}

TEST(affixes, of_english_lead_to_stems) {
    const std::pair<const char*, const char*> pairs[] = {
        {"walks", "walk"},           {"boxes", "box"},        {"carries", "carry"},  {"London's", "London"},
        {"walked", "walk"},          {"baked", "bake"},       {"stopped", "stop"},   {"carried", "carry"},
        {"making", "make"},          {"running", "run"},      {"untying", "tie"},    {"thicker", "thick"},
        {"happiest", "happy"},       {"quickly", "quick"},    {"happily", "happy"},  {"probably", "probable"},
        {"happiness", "happy"},      {"carelessly", "care"},  {"unlocked", "lock"},  {"readability", "read"},
        {"modernization", "modern"}, {"nonlinear", "linear"}, {"reunited", "unite"}, {"creation", "create"},
        {"blockages's", "blockage"},
    };
    for (const auto& [word, stem] : pairs) EXPECT_TRUE(comes_from(word, stem)) << word;
}

TEST(affixes, of_english_do_not_form_misspellings) {
    const std::pair<const char*, const char*> pairs[] = {
        {"makeing", "make"},   {"trys", "try"},      {"boxs", "box"},    {"stoped", "stop"},
        {"begining", "begin"}, {"happyer", "happy"}, {"thier", "thy"},   {"happyly", "happy"},
        {"occured", "occur"},  {"walkes", "walk"},   {"bakeed", "bake"},
    };
    for (const auto& [word, stem] : pairs) EXPECT_FALSE(comes_from(word, stem)) << word;
}

TEST(affixes, of_other_languages) {
    EXPECT_TRUE(comes_from("l'été", "été", language::french));
    EXPECT_TRUE(comes_from("qu'il", "il", language::french));
    EXPECT_TRUE(comes_from("journaux", "journal", language::french));
    EXPECT_TRUE(comes_from("Hauses", "Haus", language::german));
    EXPECT_TRUE(stems("walked", language::none).empty());
    EXPECT_FALSE(comes_from("walked", "walk", language::german));
}

TEST(affixes, are_taken_off_within_a_limit) {
    std::string word = "lock";
    for (int i = 0; i < 20; ++i) word = "un" + word + "ings";
    const auto all = stems(word, language::english);
    EXPECT_LE(all.size(), most_stems);
    EXPECT_EQ(std::ranges::count(all, word), 0);
}

TEST(affixes, go_by_the_name_of_a_dictionary) {
    EXPECT_EQ(language_of("/usr/share/dict/american-english"), language::english);
    EXPECT_EQ(language_of("/usr/share/dict/ngerman"), language::german);
    EXPECT_EQ(language_of("french.posy"), language::french);
    EXPECT_EQ(language_of("/english/names"), language::none);
}

}  // namespace
}  // namespace posy::dictionary
