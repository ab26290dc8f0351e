#include "posy/dictionary/words.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace posy::dictionary {
namespace {

using texts = std::vector<std::string>;

texts words_in(std::string_view text) {
    texts all;
    for_each_word(text, [&](const std::string& word, std::size_t offset, std::string_view written) {
        EXPECT_EQ(written, text.substr(offset, written.size()));
        all.push_back(word);
    });
    return all;
}

TEST(words, are_runs_of_letters) {
    EXPECT_EQ(words_in("One, two; (three)!"), (texts{"One", "two", "three"}));
    EXPECT_EQ(words_in("naïve Žluťoučký Ωμέγα “quoted” —dash—"),
              (texts{"naïve", "Žluťoučký", "Ωμέγα", "quoted", "dash"}));
    EXPECT_EQ(words_in(""), texts{});
    EXPECT_EQ(words_in("a\xff"
                       "b \xc3"),
              (texts{"a", "b"}));  // not UTF-8
    EXPECT_EQ(words_in("漢字 text ไทย"), (texts{"text"}));
}

TEST(words, keep_apostrophes_and_hyphens_between_letters) {
    EXPECT_EQ(words_in("don't don’t 'quoted' dogs' well-known word--word end-"),
              (texts{"don't", "don't", "quoted", "dogs", "well-known", "word", "word", "end"}));
}

TEST(words, have_one_form) {
    EXPECT_EQ(words_in("cafe\u0301 hy\u00adphen"), (texts{"café", "hyphen"}));
    EXPECT_EQ(words_in(std::string_view("w\0o\0rd", 6)), (texts{"word"}));
}

TEST(words, have_the_same_form_in_lists) {
    EXPECT_EQ(normal_form("\ufeffO\u2019Reilly"), "O'Reilly");
    EXPECT_EQ(normal_form("cafe\u0301"), "café");
    EXPECT_EQ(normal_form("c.-à-d."), "c.-à-d.");
    EXPECT_EQ(words_in("\ufeffone two"), (texts{"one", "two"}));
}

TEST(words, come_in_blocks_of_lines) {
    const std::string line(1000, 'x');
    std::string text, again;
    for (int i = 0; i < 1000; ++i) text += line + "\n";
    text += "end";
    for_each_block(text, [&](std::string_view block, std::size_t offset) {
        EXPECT_EQ(offset, again.size());
        EXPECT_LT(block.size(), (64U << 10) + 1002);
        again += block;
        EXPECT_TRUE(block.ends_with('\n') || again.size() == text.size());
    });
    EXPECT_EQ(again, text);
}

TEST(words, are_not_what_has_digits_nor_addresses) {
    EXPECT_EQ(words_in("x86 3rd a_name R2D2 plain"), (texts{"plain"}));
    EXPECT_EQ(
        words_in("see https://example.org/pagge (www.exampel.org) me@hoost.org and/or /usr/shaer ~/fiel"),
        (texts{"see", "and", "or"}));
    EXPECT_EQ(words_in(std::string(65, 'x') + " " + std::string(64, 'y')), (texts{std::string(64, 'y')}));
}

TEST(words, tell_where_they_start) {
    std::vector<std::size_t> offsets;
    for_each_word("é (two) ’three", [&](const std::string&, std::size_t offset, std::string_view) {
        offsets.push_back(offset);
    });
    EXPECT_EQ(offsets, (std::vector<std::size_t>{0, 4, 12}));
}

}  // namespace
}  // namespace posy::dictionary
