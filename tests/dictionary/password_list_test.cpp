#include "posy/dictionary/password_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "statistics.hpp"

namespace posy::dictionary {
namespace {

std::string random_text(std::mt19937_64& random, std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += printable_ascii()[random() % printable_ascii().size()];
    return text;
}

const std::vector<std::string_view> ascii = alphabet(printable_ascii());

TEST(password_list, refuses_what_is_listed_and_every_edit_of_it) {
    at_least checks(3'000);
    std::mt19937_64 random(1);
    std::vector<std::string> listed = {"password", "aa", "x", "caf\xc3\xa9", "with space ", "\xff\xfe"};
    for (int i = 0; i < 1000; ++i) listed.push_back(random_text(random, 1 + random() % 12));
    std::vector<digest> digests;
    for (const auto& each : listed) digests.push_back(password_digest(each));
    const auto list = *password_list::make(digests, {1e-9});
    EXPECT_EQ(list.passwords(), std::set(listed.begin(), listed.end()).size());
    for (const auto& each : listed) {
        EXPECT_EQ(list.check(each, ascii), password_verdict::listed);
        if (++checks; random() % 500 != 0 && each.size() > 2) continue;
        any_edit(each, ascii, [&](std::string_view text, edit) {
            const auto verdict = list.check(text, ascii);
            // What an edit took away is found again only if it is in the alphabet.
            const bool all_ascii = std::ranges::all_of(each, [](char c) { return c >= ' ' && c <= '~'; });
            if (!all_ascii || text.empty()) return false;
            EXPECT_TRUE(verdict == password_verdict::listed || verdict == password_verdict::near_listed);
            ++checks;
            return false;
        });
    }
    EXPECT_EQ(list.check("password2", ascii), password_verdict::near_listed);
    EXPECT_EQ(list.check("passw0rd", ascii), password_verdict::near_listed);
    EXPECT_EQ(list.check("apssword", ascii), password_verdict::near_listed);
    EXPECT_EQ(list.check("passw0rd2", ascii), password_verdict::fine);
    EXPECT_EQ(list.check("cafe", ascii), password_verdict::fine);
    EXPECT_EQ(list.check("cafe", alphabet("\xc3\xa9")), password_verdict::near_listed);
    EXPECT_EQ(list.check("", ascii), password_verdict::empty);
}

// Each of 1,000 is refused with the probability that its number of questions gives: 5 standard deviations, a
// false alarm in two million.
TEST(password_list, refuses_others_as_often_as_predicted) {
    std::mt19937_64 random(2);
    std::vector<digest> digests(20'000);
    for (auto& each : digests) each = password_digest(random_text(random, 30));
    for (const double rate : {1e-3, 2e-4}) {
        const auto list = *password_list::make(digests, {rate});
        const double exact = list.filter().false_positive_rate();
        bernoulli refused(500), by_formula(500);
        for (int i = 0; i < 500; ++i) {
            const std::string password = random_text(random, 6 + static_cast<std::size_t>(i) % 8);
            std::size_t questions = 1;
            any_edit(password, ascii, [&](std::string_view, edit) { return ++questions == 0; });
            const bool yes = list.check(password, ascii) != password_verdict::fine;
            refused.add(yes, -std::expm1(static_cast<double>(questions) * std::log1p(-exact)));
            by_formula.add(yes, false_refusals(exact, password.size()));
        }
        refused.expect(5);
        by_formula.expect(5);
        EXPECT_NEAR(refused.expected(), by_formula.expected(), 0.001 * refused.expected());
    }
    EXPECT_NEAR(false_refusals(1e-7, 10), 1995e-7, 1e-7);
}

TEST(password_list, takes_published_hashes) {
    const std::string hash = "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8";  // of "password"
    const auto whole = password_digest("password");
    for (const std::string& line : {hash, hash + ":1", hash + ":52256179\r", hash + "\r",
                                    std::string("5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8:07")}) {
        const auto got = published_digest(line);
        ASSERT_TRUE(got) << line;
        EXPECT_EQ(*got, std::optional(whole)) << line;
    }
    // A file of a range is named by the first digits, and pads with lines that count 0.
    EXPECT_EQ(*published_digest(hash.substr(5) + ":3", "5BAA6"), std::optional(whole));
    EXPECT_EQ(*published_digest(hash.substr(5) + ":3", "5baa6"), std::optional(whole));
    EXPECT_EQ(*published_digest(hash + ":3", "00000"), std::optional(whole));
    EXPECT_EQ(*published_digest(hash + ":0"), std::nullopt);
    EXPECT_EQ(*published_digest(hash.substr(5) + ":000\r", "5BAA6"), std::nullopt);
    for (const std::string& line :
         {std::string(), std::string("hunter2"), hash.substr(5), hash + ":", hash + ":x", hash + ":1:2",
          hash + " ", hash + "0", hash.substr(1) + "G", hash + ":-1"}) {
        const auto got = published_digest(line);
        ASSERT_FALSE(got) << line;
        EXPECT_TRUE(line.empty() || got.error().text().find(line) == std::string::npos) << line;
    }
    EXPECT_FALSE(published_digest(hash.substr(5) + ":3", "5BAA"));
    EXPECT_FALSE(published_digest(hash.substr(5) + ":3", "5BAAX"));
}

TEST(password_list, is_told_from_other_filters) {
    const auto list = *password_list::make({password_digest("secret")});
    EXPECT_TRUE(password_list::open(list.filter()));
    EXPECT_EQ(password_list::open(list.filter())->check("secret", ascii), password_verdict::listed);
    const std::vector<digest> keys = {password_digest("secret")};
    const auto other = *sealed_filter::make(hasher(), keys, {1e-7});
    EXPECT_FALSE(password_list::open(other));
    EXPECT_FALSE(password_list::open(*sealed_filter::make(hasher(hash_family::siphash), keys, {1e-7})));
    EXPECT_EQ(password_list::make({})->passwords(), 0U);
}

}  // namespace
}  // namespace posy::dictionary
