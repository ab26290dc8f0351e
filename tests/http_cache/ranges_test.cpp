#include "posy/http_cache/ranges.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

using ranges = std::vector<byte_range>;

TEST(ranges, the_three_forms) {
    EXPECT_EQ(parse_ranges("bytes=0-1", 10), (ranges{{0, 1}}));
    EXPECT_EQ(parse_ranges("Bytes=5-", 10), (ranges{{5, 9}}));
    EXPECT_EQ(parse_ranges("bytes=-3", 10), (ranges{{7, 9}}));
    EXPECT_EQ(parse_ranges("bytes=-30", 10), (ranges{{0, 9}}));
    EXPECT_EQ(parse_ranges("bytes=8-100", 10), (ranges{{8, 9}}));
    EXPECT_EQ(parse_ranges("bytes=0-99999999999999999999999", 10), (ranges{{0, 9}}));
    EXPECT_EQ(parse_ranges("bytes=500-600, 0-1 , ,300-301", 1000), (ranges{{500, 600}, {0, 1}, {300, 301}}));
}

TEST(ranges, what_is_ignored) {
    for (const auto* text :
         {"", "bytes", "bytes=", "bytes=,", "bytes=a-b", "bytes=2-1", "bytes=-", "bytes=1", "bytes=1-2, x",
          "lines=1-2", "bytes=1--2", "bytes=0x1-2", "bytes 1-2", "bytes=+1-2"}) {
        EXPECT_FALSE(parse_ranges(text, 10)) << text;
    }
    std::string many = "bytes=0-0";
    for (std::size_t i = 1; i <= most_ranges; ++i) many += "," + std::to_string(1000 * i) + "-";
    EXPECT_FALSE(parse_ranges(many, 1 << 20));
}

TEST(ranges, what_cannot_be_satisfied) {
    EXPECT_EQ(parse_ranges("bytes=10-", 10), ranges{});
    EXPECT_EQ(parse_ranges("bytes=-0", 10), ranges{});
    EXPECT_EQ(parse_ranges("bytes=0-", 0), ranges{});
    EXPECT_EQ(parse_ranges("bytes=-5", 0), ranges{});
    EXPECT_EQ(parse_ranges("bytes=20-30, 1-2", 10), (ranges{{1, 2}}));
}

// An answer is never longer for a client that asks for the same bytes again and again.
TEST(ranges, what_overlaps_or_nearly_touches_is_one) {
    EXPECT_EQ(parse_ranges("bytes=0-,0-,0-", 1000), (ranges{{0, 999}}));
    EXPECT_EQ(parse_ranges("bytes=500-600,0-10,5-20", 1000), (ranges{{0, 20}, {500, 600}}));
    EXPECT_EQ(parse_ranges("bytes=0-10,50-60", 1000), (ranges{{0, 60}}));
    EXPECT_EQ(parse_ranges("bytes=0-10,100-110", 1000), (ranges{{0, 10}, {100, 110}}));
}

stored page(field_list more = {}) {
    auto head =
        answer(200, {{"Cache-Control", "max-age=60"}, {"Content-Type", "text/plain"}, {"ETag", "\"1\""}});
    for (const auto& [name, value] : more) head.fields.set(name, value);
    std::string body;
    for (int i = 0; i < 300; ++i) body += static_cast<char>('a' + i % 26);
    return kept(head, get(), "http://example.org/", body);
}

TEST(ranges, one_part) {
    const auto made = partial_of(get({{"Range", "bytes=1-3"}}), *page());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->head.status, 206u);
    EXPECT_EQ(made->head.fields.find("Content-Range"), "bytes 1-3/300");
    EXPECT_EQ(made->head.fields.find("Content-Length"), "3");
    EXPECT_EQ(made->head.fields.find("ETag"), "\"1\"");
    EXPECT_EQ(made->head.fields.find("Content-Type"), "text/plain");
    ASSERT_EQ(made->parts.size(), 1u);
    EXPECT_EQ(made->parts[0].at, (byte_range{1, 3}));
    EXPECT_TRUE(made->parts[0].before.empty() && made->behind.empty());
}

TEST(ranges, several_parts) {
    const auto made = partial_of(get({{"Range", "bytes=200-201,0-1"}}), *page());
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->head.fields.has("Content-Range"));
    const std::string type(*made->head.fields.find("Content-Type"));
    const auto boundary = type.substr(type.find('=') + 1);
    EXPECT_EQ(type, "multipart/byteranges; boundary=" + boundary);
    ASSERT_EQ(made->parts.size(), 2u);
    EXPECT_EQ(made->parts[0].before,
              "--" + boundary + "\r\nContent-Type: text/plain\r\nContent-Range: bytes 200-201/300\r\n\r\n");
    EXPECT_EQ(made->parts[1].before.substr(0, 4), "\r\n--");
    EXPECT_EQ(made->behind, "\r\n--" + boundary + "--\r\n");
    EXPECT_EQ(made->head.fields.find("Content-Length"),
              std::to_string(made->parts[0].before.size() + made->parts[1].before.size() + 4 +
                             made->behind.size()));
}

TEST(ranges, none_of_it) {
    const auto made = partial_of(get({{"Range", "bytes=300-"}}), *page());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->head.status, 416u);
    EXPECT_EQ(made->head.fields.find("Content-Range"), "bytes */300");
    EXPECT_TRUE(made->parts.empty());
}

TEST(ranges, only_for_get_and_a_stored_200) {
    EXPECT_FALSE(partial_of(get(), *page()));
    EXPECT_FALSE(partial_of(get({{"Range", "bytes=0-1"}}, "HEAD"), *page()));
    EXPECT_FALSE(
        partial_of(get({{"Range", "bytes=0-1"}}), *kept(answer(404, {{"Cache-Control", "max-age=9"}}))));
}

TEST(ranges, if_range_compares_strongly) {
    const auto applies = [](std::string_view condition, field_list more = {}) {
        return range_applies(get({{"Range", "bytes=0-1"}, {"If-Range", condition}}), *page(more));
    };
    EXPECT_TRUE(applies("\"1\""));
    EXPECT_FALSE(applies("\"2\""));
    EXPECT_FALSE(applies("W/\"1\""));
    EXPECT_FALSE(applies("W/\"1\"", {{"ETag", "W/\"1\""}}));
    EXPECT_FALSE(applies("\"1\"", {{"ETag", "W/\"1\""}}));
    const std::string_view earlier = "Mon, 01 Jan 2024 11:00:00 GMT";
    EXPECT_TRUE(applies(earlier, {{"Last-Modified", earlier}}));
    EXPECT_FALSE(applies(noon_text, {{"Last-Modified", earlier}}));
    EXPECT_FALSE(
        applies(noon_text, {{"Last-Modified", noon_text}}));  // may have changed twice in that second
    EXPECT_FALSE(applies(earlier));
}

}  // namespace
}  // namespace posy::http_cache
