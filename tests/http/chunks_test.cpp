#include "http/chunks.hpp"

#include <gtest/gtest.h>

#include "http/message.hpp"

namespace posy::http {
namespace {

constexpr chunks::most plenty{1 << 20, 1000, 10};

// The body, given `step` bytes more each time; "" and not done when it goes on.
std::string body_of(std::string_view bytes, std::size_t step, chunks& all, chunks::most most = plenty) {
    std::string body;
    for (std::size_t begin = 0, end = 0; end < bytes.size() && !all.done();) {
        end = std::min(bytes.size(), end + step);
        begin += all.take(bytes.substr(begin, end - begin), body, most);
    }
    return body;
}

unsigned status_of(std::string_view bytes, chunks::most most = plenty) {
    chunks all;
    try {
        body_of(bytes, bytes.size(), all, most);
    } catch (const refusal& r) {
        return r.status;
    }
    return all.done() ? 200 : 0;
}

TEST(chunks, come_in_any_pieces) {
    const std::string bytes =
        "3\r\nabc\r\nA  \r\n0123456789\r\n1;x=\"y\"\r\n!\r\n0 \t\r\nX-Sum : 7 \r\nX: \r\n\r\n";
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        chunks all;
        EXPECT_EQ(body_of(bytes, step, all), "abc0123456789!");
        ASSERT_TRUE(all.done()) << step;
        EXPECT_EQ(all.trailers().find("X-Sum"), "7");
        EXPECT_EQ(all.trailers().size(), 2U);
    }
}

TEST(chunks, take_nothing_behind_their_end) {
    chunks all;
    std::string body;
    EXPECT_EQ(all.take("0\r\n\r\nHTTP/1.1 200 OK\r\n", body, plenty), 5U);
    EXPECT_TRUE(all.done());
}

TEST(chunks, end_as_they_came) {
    chunks all;
    body_of("0\r\nA: b\r\nC:d\r\n\r\n", 100, all);
    EXPECT_EQ(last_chunk(all.trailers()), "0\r\nA: b\r\nC: d\r\n\r\n");
    EXPECT_EQ(last_chunk({}), "0\r\n\r\n");
}

TEST(chunks, that_are_none) {
    for (const auto* bytes :
         {"\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", ";a\r\n", "1 2\r\n",
          "10000000000000000\r\n", "2\n", "1;a=\"\n\"\r\n", "1;\x01\r\n", "2\r\nabc\r\n", "2\r\nab\n",
          "0\r\n\n", "0\r\nA\r\n", "0\r\nA b: c\r\n", "0\r\n: c\r\n", "0\r\nA: \x01\r\n"})
        EXPECT_EQ(status_of(bytes), 400U) << bytes;
    for (const auto* half : {"", "1", "1\r", "1\r\n", "1\r\na", "1\r\na\r", "0\r\n", "0\r\nA: b\r\n"})
        EXPECT_EQ(status_of(half), 0U) << half;
}

TEST(chunks, have_limits) {
    EXPECT_EQ(status_of("6\r\n123456\r\n4\r\n", {.body = 10, .trailer = 100, .fields = 10}), 0U);
    EXPECT_EQ(status_of("6\r\n123456\r\n5\r\n", {.body = 10, .trailer = 100, .fields = 10}), 413U);
    EXPECT_EQ(status_of("ffffffffffffffff\r\n"), 413U);
    EXPECT_EQ(status_of("0\r\nA: b\r\nA: b\r\nA: b\r\n", {.body = 1, .trailer = 100, .fields = 2}), 431U);
    EXPECT_EQ(status_of("0\r\nA: b\r\nA: b\r\nA: b\r\n", {.body = 1, .trailer = 17, .fields = 10}), 431U);
}

TEST(chunks, say_nothing_about_the_message_behind_it) {
    chunks all;
    body_of(
        "0\r\nContent-Length: 5\r\nhost: x\r\nCache-Control: no-store\r\nX-Forwarded-For: z\r\n"
        "X_Real_IP: z\r\nX: y\r\n z\r\n\r\n",
        100, all);
    EXPECT_TRUE(all.done());
    ASSERT_EQ(all.trailers().size(), 1U);
    EXPECT_EQ(all.trailers().find("X"), "y");
}

}  // namespace
}  // namespace posy::http
