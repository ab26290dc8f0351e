#include "posy/dictionary/edits.hpp"

#include <gtest/gtest.h>

#include <set>

#include "statistics.hpp"

namespace posy::dictionary {
namespace {

// All of them, by the slow way: distance by the definition, over every text of at most so many letters.
std::size_t distance(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return a.size() + b.size();
    std::size_t least = std::min({distance(a.substr(1), b) + 1, distance(a, b.substr(1)) + 1,
                                  distance(a.substr(1), b.substr(1)) + (a[0] != b[0])});
    if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
        least = std::min(least, distance(a.substr(2), b.substr(2)) + 1);
    return least;
}

std::vector<std::string> texts(const std::string& letters, std::size_t longest) {
    std::vector<std::string> all = {""};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].size() == longest) continue;
        for (const char c : letters) all.push_back(all[i] + c);
    }
    return all;
}

std::vector<std::string> edits_of(std::string_view word, std::string_view letters) {
    std::vector<std::string> all;
    EXPECT_FALSE(any_edit(word, alphabet(letters), [&](std::string_view text, edit) {
        all.emplace_back(text);
        return false;
    }));
    return all;
}

TEST(edits, are_all_texts_at_distance_one_and_each_once) {
    at_least checks(15);
    const std::string letters = "abc";
    const auto every = texts(letters, 4);
    for (const std::string& word : texts("abd", 3)) {  // a letter that the alphabet does not have, too
        const auto found = edits_of(word, letters);
        const std::set<std::string> once(found.begin(), found.end());
        EXPECT_EQ(once.size(), found.size()) << word;
        EXPECT_LE(found.size(), most_edits(word.size(), letters.size())) << word;
        EXPECT_FALSE(once.contains(word));
        for (const std::string& text : every) {
            if (distance(word, text) != 1) continue;
            EXPECT_TRUE(once.contains(text)) << word << " to " << text;
            ++checks;
        }
        for (const std::string& text : once) EXPECT_EQ(distance(word, text), 1U) << word << " to " << text;
    }
}

TEST(edits, are_of_whole_characters) {
    const auto found = edits_of("né", "eö");
    const std::set<std::string> all(found.begin(), found.end());
    EXPECT_EQ(all, (std::set<std::string>{"én", "n", "é", "eé", "öé", "ne", "nö", "ené", "öné", "neé", "nöé",
                                          "née", "néö"}));
}

TEST(edits, take_any_bytes) {
    EXPECT_EQ(characters("a\xff\xc3").size(), 3U);
    EXPECT_EQ(characters("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80").size(), 3U);
    EXPECT_EQ(characters("\xe2\x82").size(), 2U);  // cut off
    EXPECT_EQ(edits_of("\xff", "").size(), 1U);
    EXPECT_EQ(edits_of("", "ab"), (std::vector<std::string>{"a", "b"}));
}

TEST(edits, end_when_told_to) {
    int calls = 0;
    const auto stop = [&](std::string_view text, edit what) {
        ++calls;
        return text == "at" && what == edit::deleted;
    };
    EXPECT_TRUE(any_edit("cat", alphabet("abc"), stop));
    EXPECT_EQ(calls, 3);
}

TEST(edits, of_an_alphabet_are_of_each_letter_once) {
    EXPECT_EQ(alphabet("banana").size(), 3U);
    EXPECT_EQ(alphabet(printable_ascii()).size(), 95U);
    EXPECT_EQ(alphabet(printable_ascii()).front(), " ");
}

}  // namespace
}  // namespace posy::dictionary
