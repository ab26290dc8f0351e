#include "node/address_book.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

std::string nth(unsigned i) { return "http://10.0.0.1:" + std::to_string(1000 + i); }

// Part of the protocol: every node computes the same number. By sha256sum, the first eight bytes, the least
// significant first.
TEST(AddressBook, NumbersAreFixed) { EXPECT_EQ(node_at("http://10.0.0.1:3130"), 0x346f57890e761aecU); }

TEST(AddressBook, OneFormOfEachAddress) {
    EXPECT_EQ(canonical_address("HTTP://Example.ORG"), "http://example.org:80");
    EXPECT_EQ(canonical_address("https://a.example/"), "https://a.example:443");
    EXPECT_EQ(canonical_address("http://[::1]:3130"), "http://[::1]:3130");
    for (const char* bad : {"", "a.example:3130", "ftp://a.example", "http://a.example/x",
                            "http://u@a.example", "http://a.example:99999", "http://"})
        EXPECT_FALSE(canonical_address(bad)) << bad;
    EXPECT_FALSE(canonical_address("http://" + std::string(300, 'a')));
}

TEST(AddressBook, LearnsWhatIsCanonicalOnly) {
    address_book book;
    EXPECT_FALSE(book.learn("http://Example.org"));
    EXPECT_FALSE(book.learn("nonsense"));
    EXPECT_EQ(book.size(), 0U);
    const auto number = book.learn("http://example.org:80");
    ASSERT_TRUE(number);
    EXPECT_EQ(*number, node_at("http://example.org:80"));
    ASSERT_NE(book.find(*number), nullptr);
    EXPECT_EQ(*book.find(*number), "http://example.org:80");
    EXPECT_EQ(book.find(*number + 1), nullptr);
}

TEST(AddressBook, ForgetsTheLeastRecentlyUsedAndNeverWhatItKeeps) {
    address_book book(3);
    const auto kept = book.keep(nth(0));
    for (unsigned i = 1; i <= 3; ++i) book.learn(nth(i));
    EXPECT_NE(book.find(node_at(nth(1))), nullptr);  // used: now 2 is the oldest
    book.learn(nth(4));
    EXPECT_EQ(book.find(node_at(nth(2))), nullptr);
    EXPECT_NE(book.find(node_at(nth(1))), nullptr);
    for (unsigned i = 10; i < 1000; ++i) book.learn(nth(i));
    EXPECT_NE(book.find(kept), nullptr);
    EXPECT_EQ(book.size(), 4U);
    // What was learnt and is kept then stays.
    const auto last = book.keep(nth(999));
    for (unsigned i = 1000; i < 1100; ++i) book.learn(nth(i));
    EXPECT_NE(book.find(last), nullptr);
}

}  // namespace
}  // namespace posy::node
