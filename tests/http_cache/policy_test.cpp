#include "posy/http_cache/policy.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

constexpr std::string_view morning = "Mon, 01 Jan 2024 08:00:00 GMT";

TEST(policy, who_may_ask_the_cache) {
    EXPECT_TRUE(may_look_up(get()));
    EXPECT_TRUE(may_look_up(get({}, "HEAD")));
    EXPECT_TRUE(may_look_up(get({{"Content-Length", "0"}, {"Range", "bytes=0-1"}, {"If-None-Match", "*"}})));
    for (const auto* method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", ""}) {
        EXPECT_FALSE(may_look_up(get({}, method))) << method;
    }
    EXPECT_FALSE(may_look_up(get({{"Content-Length", "3"}})));
    EXPECT_FALSE(may_look_up(get({{"Transfer-Encoding", "chunked"}})));
    EXPECT_FALSE(may_look_up(get({{"If-Match", "\"x\""}})));
    EXPECT_FALSE(may_look_up(get({{"If-Unmodified-Since", morning}})));
}

struct storing {
    field_list request;
    unsigned status;
    field_list response;
    bool expected;
};

void check_storing(std::initializer_list<storing> rows) {
    int number = 0;
    for (const auto& [request, status, response, expected] : rows) {
        EXPECT_EQ(storable(get(request), answer(status, response), noon), expected) << "row " << number;
        EXPECT_FALSE(storable(get(request, "HEAD"), answer(status, response), noon)) << "row " << number;
        EXPECT_FALSE(storable(get(request, "POST"), answer(status, response), noon)) << "row " << number;
        ++number;
    }
}

// RFC 9111, 3 and 3.5.
TEST(policy, what_may_be_stored) {
    check_storing({
        {{}, 200, {{"Cache-Control", "max-age=60"}}, true},  // 0
        {{}, 200, {{"Cache-Control", "s-maxage=60"}}, true},
        {{}, 200, {{"Date", noon_text}, {"Expires", "Mon, 01 Jan 2024 12:00:01 GMT"}}, true},
        {{}, 200, {{"Last-Modified", morning}}, true},
        {{}, 200, {{"ETag", "\"x\""}}, true},
        {{}, 200, {{"Cache-Control", "public, max-age=60"}, {"Set-Cookie", "a=b"}}, true},  // 5
        {{}, 200, {{"Cache-Control", "no-cache"}, {"ETag", "\"x\""}}, true},
        {{}, 200, {{"Cache-Control", "max-age=0, stale-if-error=9"}}, true},
        {{}, 200, {{"Cache-Control", "max-age=60, private=\"X\""}}, true},
        {{}, 200, {{"Cache-Control", "max-age=60"}, {"Vary", "Accept"}}, true},
        {{}, 404, {{"Cache-Control", "max-age=60"}}, true},  // 10
        {{}, 302, {{"Cache-Control", "max-age=60"}}, true},
        {{}, 500, {{"Cache-Control", "max-age=60"}}, true},
        {{}, 599, {{"Cache-Control", "max-age=60"}}, true},
        {{}, 200, {{"Cache-Control", "no-store, must-understand, max-age=60"}}, true},
        {{}, 302, {{"Last-Modified", morning}, {"Cache-Control", "public"}}, true},  // 15
        {{}, 200, {}, false},                                           // stale at once, and no validator
        {{}, 200, {{"Cache-Control", "max-age=60, no-cache"}}, false},  // always to validate, and nothing to
        {{}, 200, {{"Cache-Control", "max-age=0"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=x"}}, false},
        {{}, 302, {{"Last-Modified", morning}}, false},  // 20
        {{}, 206, {{"Cache-Control", "max-age=60"}}, false},
        {{}, 304, {{"Cache-Control", "max-age=60"}}, false},
        {{}, 100, {{"Cache-Control", "max-age=60"}}, false},
        {{}, 600, {{"Cache-Control", "max-age=60"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=60, no-store"}}, false},  // 25
        {{}, 200, {{"Cache-Control", "max-age=60, private"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=60"}, {"Vary", "Accept, *"}}, false},
        {{}, 599, {{"Cache-Control", "must-understand, max-age=60"}}, false},
        {{{"Cache-Control", "no-store"}}, 200, {{"Cache-Control", "max-age=60"}}, false},
        {{{"Authorization", "x"}}, 200, {{"Cache-Control", "max-age=60"}}, false},  // 30
        {{{"Authorization", "x"}}, 200, {{"Cache-Control", "max-age=60, public"}}, true},
        {{{"Authorization", "x"}}, 200, {{"Cache-Control", "max-age=60, must-revalidate"}}, true},
        {{{"Authorization", "x"}}, 200, {{"Cache-Control", "s-maxage=60"}}, true},
        {{{"Authorization", "x"}}, 200, {{"Cache-Control", "max-age=60, proxy-revalidate"}}, false},
        {{{"Cache-Control", "no-cache"}}, 200, {{"Cache-Control", "max-age=60"}}, true},  // 35
        {{}, 416, {{"Cache-Control", "max-age=60"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=60, x=\"a, no-store"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=60; no-store, must-understand"}}, false},
    });
}

// Only what the origin gives a lifetime, and calls public if a cookie asked for it.
TEST(policy, what_may_be_stored_with_cookies) {
    const field_list known{{"Cookie", "c=d"}};
    check_storing({
        {{}, 200, {{"Cache-Control", "max-age=60"}, {"Set-Cookie", "a=b"}}, true},
        {{}, 200, {{"Cache-Control", "max-age=60"}, {"Set-Cookie2", "a=b"}}, true},
        {{}, 200, {{"CDN-Cache-Control", "max-age=60"}, {"Set-Cookie", "a=b"}}, true},
        {{}, 200, {{"Expires", "Mon, 01 Jan 2024 20:00:00 GMT"}, {"Set-Cookie", "a=b"}}, true},
        {known, 200, {{"Cache-Control", "max-age=60"}, {"Set-Cookie", "a=b"}}, false},
        {known, 200, {{"Cache-Control", "max-age=60"}, {"Set-Cookie2", "a=b"}}, false},
        {known, 200, {{"Cache-Control", "s-maxage=60, must-revalidate"}, {"Set-Cookie", "a=b"}}, false},
        {{{"Authorization", "x"}}, 200, {{"Cache-Control", "s-maxage=60"}, {"Set-Cookie", "a=b"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=0"}, {"ETag", "\"x\""}, {"Set-Cookie", "a=b"}}, false},
        {known, 200, {{"Cache-Control", "max-age=60, no-cache=Set-Cookie"}, {"Set-Cookie", "a"}}, true},
        {known, 200, {{"Cache-Control", "max-age=60, public"}, {"Set-Cookie", "a=b"}}, true},
        {known, 200, {{"Cache-Control", "max-age=60"}}, true},
        {{}, 200, {{"Last-Modified", morning}, {"Set-Cookie", "a=b"}}, false},
        {{}, 200, {{"ETag", "\"x\""}, {"Set-Cookie", "a=b"}}, false},
        {{}, 200, {{"Cache-Control", "public"}, {"Last-Modified", morning}, {"Set-Cookie", "a"}}, false},
        {{}, 200, {{"Cache-Control", "max-age=60, private=\"set-cookie\""}, {"Set-Cookie", "a"}}, true},
    });
}

struct deciding {
    std::string_view stored;   // Cache-Control of the stored response
    std::string_view request;  // of the request
    seconds age;
    http_cache::verdict verdict;
    forward_reason why = forward_reason::stale;  // when not served
};

// RFC 9111, 4.2 and 5.2.1; RFC 5861, 3. The stored response has an ETag.
TEST(policy, what_answers_a_request) {
    using enum verdict;
    using enum forward_reason;
    for (const auto& [says, wants, age, expected, why] : std::initializer_list<deciding>{
             {"max-age=60", "", 0, serve},
             {"max-age=60", "", 59, serve},
             {"max-age=60", "", 60, validate},
             {"max-age=60", "no-store", 1, serve},
             {"max-age=60", "no-cache", 1, validate, request},
             {"max-age=60", "max-age=0", 1, validate, request},
             {"max-age=60", "max-age=10", 10, serve},
             {"max-age=60", "max-age=10", 11, validate, request},
             {"max-age=60", "max-age=x", 1, validate, request},
             {"max-age=60", "min-fresh=10", 50, serve},
             {"max-age=60", "min-fresh=10", 51, validate, request},
             {"max-age=60", "min-fresh=ten", 0, validate, request},
             {"max-age=60", "max-stale=10", 70, serve},
             {"max-age=60", "max-stale=10", 71, validate},
             {"max-age=60", "max-stale", 1000000, serve},
             {"max-age=60", "max-stale, max-age=100", 101, validate, request},
             {"max-age=60", "max-stale, min-fresh=1", 60, validate, request},
             {"max-age=60", "only-if-cached", 59, serve},
             {"max-age=60", "only-if-cached", 60, refuse},
             {"max-age=60", "only-if-cached, max-stale", 60, serve},
             {"max-age=60", "only-if-cached, no-cache", 1, refuse, request},
             {"no-cache, max-age=60", "", 1, validate},
             {"no-cache, max-age=60", "max-stale", 1, validate},
             {"no-cache=\"X\", max-age=60", "", 1, serve},
             {"must-revalidate, max-age=60", "", 59, serve},
             {"must-revalidate, max-age=60", "max-stale", 60, validate},
             {"proxy-revalidate, max-age=60", "max-stale", 60, validate},
             {"s-maxage=60", "max-stale", 60, validate},
             {"max-age=60, stale-while-revalidate=30", "", 59, serve},
             {"max-age=60, stale-while-revalidate=30", "", 60, serve_and_revalidate},
             {"max-age=60, stale-while-revalidate=30", "", 90, serve_and_revalidate},
             {"max-age=60, stale-while-revalidate=30", "", 91, validate},
             {"max-age=60, stale-while-revalidate=30", "only-if-cached", 90, serve},
             {"max-age=60, stale-while-revalidate=30", "no-cache", 70, validate, request},
             {"max-age=60, stale-while-revalidate=30", "max-age=65", 70, validate, request},
             {"max-age=60, stale-while-revalidate=30, must-revalidate", "", 70, validate},
             {"s-maxage=60, stale-while-revalidate=30", "", 70, validate},
             {"max-age=60, stale-if-error=30", "", 70, validate},
         }) {
        const auto response = kept(answer(200, {{"Cache-Control", says}, {"ETag", "\"x\""}}));
        const auto request_fields = wants.empty() ? get() : get({{"Cache-Control", wants}});
        const auto made = decide(request_fields, response.get(), noon + age);
        EXPECT_EQ(made.verdict, expected) << says << " | " << wants << " | " << age;
        if (made.verdict != serve) {
            EXPECT_EQ(name_of(made.why), name_of(why)) << says << " | " << wants << " | " << age;
        }
    }
}

TEST(policy, without_a_validator_a_stale_response_is_a_miss) {
    const auto response = kept(answer(200, {{"Cache-Control", "max-age=60"}}));
    const auto made = decide(get(), response.get(), noon + 60);
    EXPECT_EQ(made.verdict, verdict::forward);
    EXPECT_EQ(made.why, forward_reason::stale);
}

TEST(policy, nothing_stored_and_nothing_to_look_up) {
    EXPECT_EQ(decide(get(), nullptr, noon).verdict, verdict::forward);
    EXPECT_EQ(decide(get(), nullptr, noon).why, forward_reason::uri_miss);
    EXPECT_EQ(decide(get({{"Cache-Control", "only-if-cached"}}), nullptr, noon).verdict, verdict::refuse);
    const auto response = kept(answer(200, {{"Cache-Control", "max-age=60"}}));
    EXPECT_EQ(decide(get({}, "HEAD"), response.get(), noon).verdict, verdict::serve);
    EXPECT_EQ(decide(get({}, "POST"), response.get(), noon).verdict, verdict::forward);
    EXPECT_EQ(decide(get({}, "POST"), response.get(), noon).why, forward_reason::method);
    EXPECT_EQ(decide(get({{"If-Match", "*"}}), response.get(), noon).why, forward_reason::bypass);
    EXPECT_EQ(decide(get({{"Pragma", "no-cache"}}), response.get(), noon).why, forward_reason::request);
}

// RFC 5861, 4; RFC 9111, 4.2.4.
TEST(policy, stale_in_place_of_an_error) {
    struct row {
        std::string_view stored, request;
        seconds age;
        bool after_no_answer, after_an_error;
    };
    for (const auto& [says, wants, age, silent, failed] : std::initializer_list<row>{
             {"max-age=60", "", 70, true, false},
             {"max-age=60", "max-age=65", 70, false, false},
             {"max-age=60", "stale-if-error=10", 70, true, true},
             {"max-age=60", "stale-if-error=10", 71, false, false},
             {"max-age=60, stale-if-error=10", "", 70, true, true},
             {"max-age=60, stale-if-error=10", "", 71, false, false},
             {"max-age=60, stale-if-error=10", "stale-if-error=20", 80, true, true},
             {"max-age=60, stale-if-error=10", "no-cache", 61, false, false},
             {"max-age=60, stale-if-error=10, must-revalidate", "", 61, false, false},
             {"max-age=60, stale-if-error=10, proxy-revalidate", "", 61, false, false},
             {"max-age=60, stale-if-error=10, no-cache", "", 61, false, false},
             {"s-maxage=60, stale-if-error=10", "", 61, false, false},
         }) {
        const auto response = kept(answer(200, {{"Cache-Control", says}}));
        const auto request = wants.empty() ? get() : get({{"Cache-Control", wants}});
        EXPECT_EQ(may_serve_on_error(request, *response, noon + age, failure::no_answer), silent)
            << says << wants;
        EXPECT_EQ(may_serve_on_error(request, *response, noon + age, failure::error_status), failed)
            << says << wants;
    }
}

// RFC 9111, 3.5.
TEST(policy, what_answers_a_password_is_for_its_owner) {
    const auto secret = get({{"Authorization", "Basic eDp5"}});
    const auto shared = [&](std::string_view says) {
        return for_everyone(secret, answer(304, {{"Cache-Control", says}}));
    };
    EXPECT_FALSE(shared("max-age=60"));
    EXPECT_FALSE(for_everyone(secret, answer(304)));
    for (const auto* says : {"public", "s-maxage=1", "must-revalidate"}) EXPECT_TRUE(shared(says)) << says;
    EXPECT_TRUE(for_everyone(get(), answer(304)));
}

// RFC 9110, 9.3.3
TEST(policy, an_answer_to_post_may_stand_for_one_to_get) {
    const auto stands = [](field_list list, unsigned status = 200, std::string method = "POST") {
        return stands_for_get(get({}, std::move(method)), "http://example.org/a", answer(status, list));
    };
    EXPECT_TRUE(stands({{"Cache-Control", "max-age=9"}, {"Content-Location", "http://EXAMPLE.org/a"}}));
    EXPECT_TRUE(stands({{"Expires", noon_text}, {"Content-Location", "/a"}}));
    EXPECT_FALSE(stands({{"Content-Location", "/a"}}));
    // Several say the same, or nothing that can be relied on.
    const auto twice = [&](const char* first, const char* second) {
        return stands(
            {{"Cache-Control", "max-age=9"}, {"Content-Location", first}, {"Content-Location", second}});
    };
    EXPECT_TRUE(twice("/a", "http://example.org/a"));
    EXPECT_FALSE(twice("/a", "/b"));
    EXPECT_FALSE(twice("/b", "/a"));
    EXPECT_FALSE(stands({{"Cache-Control", "max-age=9"}}));
    EXPECT_FALSE(stands({{"Cache-Control", "max-age=9"}, {"Content-Location", "/b"}}));
    EXPECT_FALSE(stands({{"Cache-Control", "max-age=9"}, {"Content-Location", "http://other/a"}}));
    EXPECT_FALSE(stands({{"Cache-Control", "max-age=9"}, {"Content-Location", "/a"}}, 201));
    EXPECT_FALSE(stands({{"Cache-Control", "max-age=9"}, {"Content-Location", "/a"}}, 200, "PUT"));
}

}  // namespace
}  // namespace posy::http_cache
