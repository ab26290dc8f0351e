#include "http/lenient.hpp"

#include <gtest/gtest.h>

namespace posy::http {
namespace {

TEST(lenient, a_head_that_is_fit_stays_as_it_is) {
    for (const auto* head : {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 \r\nA: b : c\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nA:b\r\nC: d\r\n\r\n"})
        EXPECT_EQ(mended(head), std::nullopt) << head;
}

TEST(lenient, what_is_mended) {
    EXPECT_EQ(mended("HTTP/1.1 200\r\nA: b\r\n\r\n"), "HTTP/1.1 200 \r\nA: b\r\n\r\n");
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\nA \t: b : c\r\nD: e\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nA: b : c\r\nD: e\r\n\r\n");
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td : e\r\nF: g\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nA: b c d : e\r\nF: g\r\n\r\n");
    EXPECT_EQ(mended("HTTP/1.0 200 OK\nA: b\n\n"), "HTTP/1.0 200 OK\r\nA: b\r\n\r\n");
}

// Two ways to end a line in one head are two opinions on where it ends.
TEST(lenient, what_is_left_to_be_refused) {
    EXPECT_EQ(mended("HTTP/1.1 200 OK\nA: b\r\n\n"), std::nullopt);
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\n A: b\r\n\r\n"), std::nullopt);  // a fold of nothing
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\n: b\r\n\r\n"), std::nullopt);
    EXPECT_EQ(mended("HTTP/1.1 200 OK\r\n : b\r\n\r\n"), std::nullopt);
    EXPECT_EQ(mended(""), std::nullopt);
}

TEST(lenient, the_end_of_a_head) {
    const std::string_view head = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", bare = "HTTP/1.1 200 OK\nA: b\n\n";
    for (std::size_t seen = 0; seen < head.size(); ++seen) {
        EXPECT_EQ(head_length(head.substr(0, seen)), 0U);
        EXPECT_EQ(head_length(std::string(head) + "body\r\n\r\n", seen), head.size());
    }
    for (std::size_t seen = 0; seen < bare.size(); ++seen) {
        EXPECT_EQ(head_length(bare.substr(0, seen)), 0U);
        EXPECT_EQ(head_length(std::string(bare) + "body\n\n", seen), bare.size());
    }
    EXPECT_EQ(head_length("HTTP/1.1 200 OK\r\nA: b\n\nC: d\n\n"), 0U);
}

}  // namespace
}  // namespace posy::http
