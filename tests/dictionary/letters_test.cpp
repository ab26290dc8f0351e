#include "posy/dictionary/letters.hpp"

#include <gtest/gtest.h>

#include "posy/dictionary/edits.hpp"

namespace posy::dictionary {
namespace {

TEST(letters, have_a_case) {
    EXPECT_EQ(lower("ÀÉÎÕÜ ĀČĹŃŽ ΆΩ ЁЖЩ ԱՖ ẠỸ"), "àéîõü āčĺńž άω ёжщ աֆ ạỹ");
    for (const char32_t c : code_points("ÀÉĀČĹŃŽΆΩЁЖԱẠ")) EXPECT_EQ(upper(lower(c)), c);
    for (const char32_t c : code_points("ßıŋ×÷1é")) EXPECT_EQ(lower(c), c);
    EXPECT_EQ(upper(U'ß'), U'ß');
}

TEST(letters, have_a_case_that_goes_there_and_back) {
    int cased = 0;
    for (char32_t c = 0; c < 0x3000; ++c) {
        if (lower(c) == c) continue;
        ++cased;
        EXPECT_EQ(upper(lower(c)), c) << static_cast<std::uint32_t>(c);
        EXPECT_EQ(lower(lower(c)), lower(c)) << static_cast<std::uint32_t>(c);
        EXPECT_TRUE(is_letter(c) && is_letter(lower(c))) << static_cast<std::uint32_t>(c);
    }
    EXPECT_GT(cased, 400);
}

TEST(letters, are_not_punctuation) {
    for (const char32_t c : code_points("azAZéßŁжΩא")) EXPECT_TRUE(is_letter(c));
    for (const char32_t c : code_points("@[`{ ©«»¿×÷–—“”…€→漢😀")) EXPECT_FALSE(is_letter(c));
    EXPECT_FALSE(is_letter(no_character));
    EXPECT_FALSE(is_letter(code_point("\xf4\xbf\xbf\xbf"))) << "beyond Unicode";
    EXPECT_FALSE(is_letter(code_point("\xed\xa0\x80"))) << "a surrogate";
}

TEST(letters, survive_utf8) {
    const std::string text = "aé€😀";
    EXPECT_EQ(utf8(code_points(text)), text);
    EXPECT_EQ(code_points("\xff").front(), no_character);
}

TEST(letters, capitals) {
    EXPECT_EQ(capitals_of("word"), capitals::none);
    EXPECT_EQ(capitals_of("Word's"), capitals::first);
    EXPECT_EQ(capitals_of("WORD'S"), capitals::all);
    EXPECT_EQ(capitals_of("McDonald"), capitals::mixed);
    EXPECT_EQ(capitals_of("É"), capitals::first);
    EXPECT_EQ(with_first_capital("éCOLE", true), "École");
}

TEST(letters, take_accents_and_lose_them) {
    EXPECT_EQ(compose(U'e', *accent_of_entity("acute")), U'é');
    EXPECT_EQ(compose(U'o', *accent_of_latex('"')), U'ö');
    EXPECT_EQ(compose(U'c', *accent_of_combining(0x30c)), U'č');
    EXPECT_FALSE(compose(U'q', *accent_of_latex('"')));
    EXPECT_EQ(accent_of_entity("nothing"), nullptr);
    EXPECT_EQ(bare(U'Ž'), U'Z');
    EXPECT_EQ(bare(U'ß'), U'ß');
}

}  // namespace
}  // namespace posy::dictionary
