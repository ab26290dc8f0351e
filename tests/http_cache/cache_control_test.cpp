#include "posy/http_cache/cache_control.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

response_directives of_response(std::string_view value) {
    return response_directives_of(with({{"Cache-Control", value}}));
}
request_directives of_request(std::string_view value) {
    return request_directives_of(with({{"Cache-Control", value}}));
}
using names = std::vector<std::string>;

TEST(cache_control, reads_every_directive_of_a_response) {
    const auto all = of_response(
        "no-store, No-Cache, PRIVATE, public, must-revalidate, proxy-revalidate, must-understand, max-age=1, "
        "s-maxage=2, stale-while-revalidate=3, stale-if-error=4, immutable, x-unknown=\"a, max-age=9\"");
    EXPECT_TRUE(all.no_store && all.no_cache && all.is_private && all.is_public && all.must_revalidate &&
                all.proxy_revalidate && all.must_understand);
    EXPECT_EQ(all.max_age, 1);
    EXPECT_EQ(all.s_maxage, 2);
    EXPECT_EQ(all.stale_while_revalidate, 3);
    EXPECT_EQ(all.stale_if_error, 4);
    EXPECT_TRUE(all.unkept_fields.empty());

    const auto none = of_response("immutable, nocache, max_age=1");
    EXPECT_FALSE(none.no_store || none.no_cache || none.is_private || none.is_public ||
                 none.must_revalidate || none.proxy_revalidate || none.must_understand || none.max_age ||
                 none.s_maxage || none.stale_while_revalidate || none.stale_if_error || none.never_stale());
}

TEST(cache_control, reads_every_directive_of_a_request) {
    const auto all =
        of_request("no-cache,no-store , only-if-cached,max-age=1,min-fresh=2,max-stale=3,stale-if-error=4");
    EXPECT_TRUE(all.no_cache && all.no_store && all.only_if_cached);
    EXPECT_EQ(all.max_age, 1);
    EXPECT_EQ(all.min_fresh, 2);
    EXPECT_EQ(all.max_stale, 3);
    EXPECT_EQ(all.stale_if_error, 4);
    EXPECT_EQ(of_request("max-stale").max_stale, most_seconds);
    EXPECT_EQ(of_request("").max_stale, std::nullopt);
}

TEST(cache_control, an_invalid_number_is_the_strictest) {
    struct row {
        const char* text;
        seconds expected;
    };
    for (const auto& [text, expected] : std::initializer_list<row>{
             {"60", 60},
             {"\"60\"", 60},
             {"\"6\\0\"", 60},
             {"0060", 60},
             {"2147483647", 2147483647},
             {"2147483649", most_seconds},
             {"99999999999999999999999999", most_seconds},
             {"", 0},
             {"\"\"", 0},
             {"-1", 0},
             {"+1", 0},
             {"1.5", 0},
             {" 60", 0},
             {"60 s", 0},
             {"'60'", 0},
             {"ten", 0},
             {"0x10", 0},
         }) {
        EXPECT_EQ(of_response("max-age=" + std::string(text)).max_age, expected) << text;
        if (expected == 0) {
            EXPECT_EQ(of_request("min-fresh=" + std::string(text)).min_fresh, most_seconds) << text;
        }
    }
    EXPECT_EQ(of_response("max-age").max_age, 0);
    EXPECT_EQ(of_response("s-maxage").s_maxage, 0);
    EXPECT_EQ(of_request("min-fresh").min_fresh, most_seconds);
    EXPECT_EQ(of_request("max-stale=x").max_stale, 0);
}

TEST(cache_control, repeated_with_another_value_is_the_strictest) {
    EXPECT_EQ(of_response("max-age=60, max-age=60").max_age, 60);
    EXPECT_EQ(of_response("max-age=60, max-age=1").max_age, 0);
    EXPECT_EQ(of_response("max-age=1, max-age=60, max-age=60").max_age, 0);
    EXPECT_EQ(of_request("min-fresh=1, min-fresh=2").min_fresh, most_seconds);
    const auto two_lines = with({{"Cache-Control", "max-age=60"}, {"cache-control", "max-age=61, public"}});
    EXPECT_EQ(response_directives_of(two_lines).max_age, 0);
    EXPECT_TRUE(response_directives_of(two_lines).is_public);
}

TEST(cache_control, fields_named_are_not_kept) {
    const auto listed = of_response("no-cache=\"Set-Cookie, X-A\", private=Authorization, max-age=5");
    EXPECT_EQ(listed.unkept_fields, (names{"Set-Cookie", "X-A", "Authorization"}));
    EXPECT_FALSE(listed.no_cache || listed.is_private);
    EXPECT_EQ(listed.max_age, 5);
    for (const auto* plain : {"private", "private=", "private=\"\"", "private=\" , \"", "private=\"Vary\"",
                              "private=\"X-A, cache-control\""}) {
        EXPECT_TRUE(of_response(plain).is_private) << plain;
    }
    EXPECT_TRUE(of_response("private=\"X-A\", private").is_private);
}

// Malformed text hides no directive, whether by a quote or a semicolon.
TEST(cache_control, a_malformed_value_is_the_strictest) {
    for (const auto* text :
         {"max-age=60, x=\"abc, no-store", "x=\"a\\\", max-age=60, public", "max-age=60, \"no-store\"",
          "max-age=60; no-store", "public; no-store, max-age=60", "x=a\"b, no-store\"", "x=\"a\"b, max-age=9",
          "max-age=60, no store", "max-age=60, must-understand, x=\"", "max-age=60, =5"}) {
        EXPECT_TRUE(of_response(text).no_store && of_response(text).is_private) << text;
        EXPECT_TRUE(of_request(text).no_store && of_request(text).no_cache) << text;
    }
    for (const auto* text :
         {"max-age=60, x=\"a, no-store\"", "max-age=60,", "x=\"\\\"\", max-age=60", "a=, b"}) {
        EXPECT_FALSE(of_response(text).no_store || of_response(text).is_private) << text;
        EXPECT_FALSE(of_request(text).no_store || of_request(text).no_cache) << text;
    }
    EXPECT_TRUE(of_request("x=\"a, only-if-cached").only_if_cached);
    std::string many = "max-age=60, no-cache=\"";
    for (int i = 0; i < 101; ++i) many += "a,";
    EXPECT_TRUE(of_response(many + "\"").no_cache);
    EXPECT_TRUE(of_response(many + "\"").unkept_fields.empty());
}

TEST(cache_control, what_forbids_stale_responses) {
    for (const auto* text : {"no-cache", "must-revalidate", "proxy-revalidate", "s-maxage=9"}) {
        EXPECT_TRUE(of_response(text).never_stale()) << text;
    }
    for (const auto* text : {"max-age=9", "public", "no-cache=\"X\"", "stale-if-error=9"}) {
        EXPECT_FALSE(of_response(text).never_stale()) << text;
    }
}

TEST(cache_control, pragma_counts_only_alone) {
    EXPECT_TRUE(request_directives_of(with({{"Pragma", "No-Cache"}})).no_cache);
    EXPECT_TRUE(request_directives_of(with({{"Pragma", "x, no-cache"}})).no_cache);
    EXPECT_FALSE(request_directives_of(with({{"Pragma", "x"}})).no_cache);
    EXPECT_FALSE(
        request_directives_of(with({{"Pragma", "no-cache"}, {"Cache-Control", "max-stale"}})).no_cache);
    EXPECT_FALSE(response_directives_of(with({{"Pragma", "no-cache"}})).no_cache);
}

// RFC 9213: the field for caches like this one stands in for Cache-Control and Expires.
TEST(cache_control, targeted_fields_come_first) {
    const auto says = [](std::string_view targeted, std::string_view general = "no-store") {
        return response_directives_of(with({{"Cache-Control", general}, {"CDN-Cache-Control", targeted}}));
    };
    const auto found = says("max-age=3600, foobar");
    EXPECT_TRUE(found.targeted);
    EXPECT_FALSE(found.no_store);
    EXPECT_EQ(found.max_age, 3600);
    EXPECT_EQ(says("max-age=99999999999").max_age, most_seconds);
    EXPECT_TRUE(says("no-store", "max-age=9").no_store);
    EXPECT_TRUE(says("private", "max-age=9").is_private);
    EXPECT_TRUE(says("no-cache", "max-age=9").no_cache);
    EXPECT_EQ(says("no-cache=\"A, B\"").unkept_fields, (std::vector<std::string>{"A", "B"}));
    EXPECT_FALSE(says("no-store=?0, max-age=1").no_store);
    EXPECT_EQ(says("max-age=1;x=2").max_age, 1);
}

TEST(cache_control, targeted_fields_that_do_not_parse_are_not_there) {
    for (const auto* wrong : {"", "max-age=10, &&&", "max-age=\"10\"", "max-age=1.5", "max-age", "max-age =1",
                              "MaX-age=1", "max-age=-1", "no-store=1", "public=(a)"}) {
        const auto found =
            response_directives_of(with({{"Cache-Control", "no-store"}, {"CDN-Cache-Control", wrong}}));
        EXPECT_FALSE(found.targeted) << wrong;
        EXPECT_TRUE(found.no_store) << wrong;
    }
}

}  // namespace
}  // namespace posy::http_cache
