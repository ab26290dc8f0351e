#include "posy/http_cache/cache_status.hpp"

#include <gtest/gtest.h>

namespace posy::http_cache {
namespace {

TEST(cache_status, members) {
    EXPECT_EQ((cache_status{.cache = "posy"}.text()), "posy");
    EXPECT_EQ((cache_status{.cache = "posy", .hit = true, .ttl = 30}.text()), "posy; hit; ttl=30");
    EXPECT_EQ((cache_status{.cache = "posy", .hit = true, .ttl = -5, .detail = "peer"}.text()),
              "posy; hit; ttl=-5; detail=peer");
    EXPECT_EQ((cache_status{.cache = "posy",
                            .forward = forward_reason::stale,
                            .forward_status = 304,
                            .ttl = 60,
                            .stored = true,
                            .collapsed = true}
                   .text()),
              "posy; fwd=stale; fwd-status=304; ttl=60; stored; collapsed");
}

TEST(cache_status, reasons) {
    const auto name = [](forward_reason why) { return std::string(name_of(why)); };
    EXPECT_EQ(name(forward_reason::bypass), "bypass");
    EXPECT_EQ(name(forward_reason::method), "method");
    EXPECT_EQ(name(forward_reason::uri_miss), "uri-miss");
    EXPECT_EQ(name(forward_reason::vary_miss), "vary-miss");
    EXPECT_EQ(name(forward_reason::miss), "miss");
    EXPECT_EQ(name(forward_reason::request), "request");
    EXPECT_EQ(name(forward_reason::stale), "stale");
}

// Structured fields (RFC 8941): a token as it is, anything else a string.
TEST(cache_status, names_and_details_are_tokens_or_strings) {
    const auto named = [](std::string name) { return cache_status{.cache = std::move(name)}.text(); };
    EXPECT_EQ(named("proxy-1.example:8080/x"), "proxy-1.example:8080/x");
    EXPECT_EQ(named("*"), "*");
    EXPECT_EQ(named("1proxy"), "\"1proxy\"");
    EXPECT_EQ(named("my proxy"), "\"my proxy\"");
    EXPECT_EQ(named("a\"b\\c"), R"("a\"b\\c")");
    EXPECT_EQ(named("a\r\nb\xc3\xa4"), "\"a??b??\"");
    EXPECT_EQ(named(""), "\"\"");
    EXPECT_EQ((cache_status{.cache = "p", .detail = "a; hit"}.text()), "p; detail=\"a; hit\"");
}

}  // namespace
}  // namespace posy::http_cache
