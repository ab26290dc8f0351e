#include "node/letter_seal.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

http_cache::fields sealed(std::string_view token, std::string_view body = "letters") {
    http_cache::fields fields;
    add_to(fields, token, "http://10.0.0.1:3130", "http://10.0.0.2:3130", 1'000'000, body);
    return fields;
}

TEST(LetterSeal, ProvesTheTokenWithoutShowingIt) {
    const auto fields = sealed("the token");
    const auto seal = seal_of(fields, "the token");
    ASSERT_TRUE(seal);
    EXPECT_TRUE(seal->fits("letters"));
    EXPECT_FALSE(seal->fits("letterz"));
    EXPECT_EQ(fields.find("Authorization")->find("the token"), std::string_view::npos);
    EXPECT_FALSE(seal_of(fields, "another token"));
    EXPECT_FALSE(seal_of(fields, ""));
    EXPECT_FALSE(sealed("").has("Authorization"));
}

TEST(LetterSeal, IsValidForAWhile) {
    const auto seal = seal_of(sealed("t"), "t");
    EXPECT_TRUE(seal->valid_at(1'000'000));
    EXPECT_TRUE(seal->valid_at(1'000'000 + letter_seal::validity - 1));
    EXPECT_FALSE(seal->valid_at(1'000'000 + letter_seal::validity));
    EXPECT_FALSE(seal->valid_at(1'000'000 - letter_seal::validity));
}

// Whatever is changed in a field, the seal is broken.
TEST(LetterSeal, EveryChangeBreaksIt) {
    const auto good = sealed("t");
    for (const char* name : {"Posy-From", "Posy-To", "Authorization"}) {
        const std::string value(*good.find(name));
        for (std::size_t at = 0; at < value.size(); ++at) {
            http_cache::fields changed;
            for (const char* other : {"Posy-From", "Posy-To", "Authorization"}) {
                std::string text(*good.find(other));
                if (std::string_view(other) == name) text[at] = static_cast<char>(text[at] ^ 1);
                changed.add(other, text);
            }
            EXPECT_FALSE(seal_of(changed, "t")) << name << " at " << at;
        }
    }
}

TEST(LetterSeal, MalformedOnesAreNone) {
    for (const char* bad : {"", "Posy-Letter", "Posy-Letter ", "Posy-Letter 1", "Posy-Letter 1  ",
                            "Posy-Letter 99999999999999999999999 a b", "Bearer t"}) {
        http_cache::fields fields;
        fields.add("Posy-From", "a");
        fields.add("Posy-To", "b");
        fields.add("Authorization", bad);
        EXPECT_FALSE(seal_of(fields, "t")) << bad;
    }
}

}  // namespace
}  // namespace posy::node
