#include "posy/http_cache/validation.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"
#include "posy/http_cache/policy.hpp"

namespace posy::http_cache {
namespace {

constexpr std::string_view morning = "Mon, 01 Jan 2024 08:00:00 GMT";
constexpr std::string_view evening = "Mon, 01 Jan 2024 20:00:00 GMT";

TEST(validation, weak_comparison) {  // the table of RFC 9110, 8.8.3.2
    EXPECT_TRUE(weakly_equal("W/\"1\"", "W/\"1\""));
    EXPECT_FALSE(weakly_equal("W/\"1\"", "W/\"2\""));
    EXPECT_TRUE(weakly_equal("W/\"1\"", "\"1\""));
    EXPECT_TRUE(weakly_equal("\"1\"", "\"1\""));
    EXPECT_FALSE(weakly_equal("w/\"1\"", "\"1\""));
    EXPECT_FALSE(weakly_equal("", ""));
    EXPECT_FALSE(weakly_equal("W/", "W/"));
}

TEST(validation, asks_with_our_validators_and_for_the_whole) {
    const auto request = get({{"Host", "a"},
                              {"If-None-Match", "\"mine\""},
                              {"If-Modified-Since", evening},
                              {"If-Range", "\"mine\""},
                              {"Range", "bytes=0-1"}});
    const auto both =
        conditional(request, *kept(answer(200, {{"ETag", "W/\"x\""}, {"Last-Modified", morning}})));
    EXPECT_EQ(both.fields,
              with({{"Host", "a"}, {"If-None-Match", "W/\"x\""}, {"If-Modified-Since", morning}}));
    EXPECT_EQ(both.method, "GET");
    EXPECT_EQ(both.target, request.target);
    EXPECT_EQ(conditional(request, *kept(answer(200))).fields, with({{"Host", "a"}}));
}

// RFC 9111, 3.2 and 4.3.4.
TEST(validation, a_304_freshens) {
    const auto old = kept(answer(200, {{"Date", noon_text},
                                       {"ETag", "\"x\""},
                                       {"Cache-Control", "max-age=60"},
                                       {"Content-Type", "text/html"},
                                       {"Content-Encoding", "gzip"},
                                       {"X-Old", "1"},
                                       {"X-Two", "1"},
                                       {"X-Two", "2"}}));
    const auto fresh = freshened(*old, get(),
                                 answer(304, {{"Date", evening},
                                              {"ETag", "W/\"x\""},
                                              {"Cache-Control", "max-age=90"},
                                              {"Content-Type", "text/plain"},
                                              {"Content-Encoding", "br"},
                                              {"Content-Length", "0"},
                                              {"Content-Range", "bytes 0-1/2"},
                                              {"Connection", "X-Hop"},
                                              {"X-Hop", "h"},
                                              {"X-Two", "3"},
                                              {"X-Two", "4"},
                                              {"Age", "7"}}),
                                 {noon + 100, noon + 101});
    ASSERT_TRUE(fresh);
    EXPECT_EQ(fresh->head.status, 200u);
    EXPECT_EQ(fresh->body, old->body);
    EXPECT_EQ(fresh->url, old->url);
    EXPECT_EQ(fresh->lifetime, 90);
    EXPECT_EQ(fresh->received, noon + 101);
    EXPECT_EQ(fresh->initial_age, 8);
    EXPECT_EQ(fresh->head.fields, with({{"Content-Type", "text/html"},
                                        {"Content-Encoding", "gzip"},
                                        {"X-Old", "1"},
                                        {"Content-Length", "4"},
                                        {"Date", evening},
                                        {"ETag", "W/\"x\""},
                                        {"Cache-Control", "max-age=90"},
                                        {"X-Two", "3"},
                                        {"X-Two", "4"}}));
}

TEST(validation, a_304_without_a_date_is_of_now) {
    const auto old =
        kept(answer(200, {{"Date", morning}, {"ETag", "\"x\""}, {"Cache-Control", "max-age=60"}}));
    EXPECT_EQ(old->initial_age, 4 * 3600);
    const auto fresh = freshened(*old, get(), answer(304), {noon + 5, noon + 5});
    ASSERT_TRUE(fresh);
    EXPECT_EQ(fresh->ttl(noon + 5), 60);
}

TEST(validation, a_304_about_something_else_does_not) {
    const auto tagged = kept(answer(200, {{"ETag", "\"x\""}, {"Last-Modified", morning}}));
    const auto dated = kept(answer(200, {{"Last-Modified", morning}}));
    const auto freshens = [](const stored& old, field_list list) {
        return freshened(*old, get(), answer(304, list), {noon, noon}) != nullptr;
    };
    EXPECT_TRUE(freshens(tagged, {}));
    EXPECT_TRUE(freshens(tagged, {{"ETag", "\"x\""}, {"Last-Modified", evening}}));
    EXPECT_FALSE(freshens(tagged, {{"ETag", "\"y\""}, {"Last-Modified", morning}}));
    EXPECT_FALSE(freshens(tagged, {{"Last-Modified", evening}}));
    EXPECT_TRUE(freshens(dated, {{"ETag", "\"y\""}, {"Last-Modified", morning}}));
    EXPECT_FALSE(freshens(dated, {{"Last-Modified", evening}}));
}

TEST(validation, a_304_may_change_the_variant) {
    const auto old = kept(answer(200, {{"ETag", "\"x\""}}));
    const auto fresh =
        freshened(*old, get({{"Accept", "b"}}), answer(304, {{"Vary", "Accept"}}), {noon, noon});
    EXPECT_EQ(fresh->variant.key, "accept:b\n");
}

TEST(validation, cookies_of_a_304_are_not_stored) {
    const auto old = kept(answer(200, {{"ETag", "\"x\""}}));
    const auto fresh =
        freshened(*old, get(), answer(304, {{"Set-Cookie", "a=1"}, {"Set-Cookie2", "b=2"}}), {noon, noon});
    EXPECT_FALSE(fresh->head.fields.has("Set-Cookie"));
    EXPECT_FALSE(fresh->head.fields.has("Set-Cookie2"));
}

TEST(validation, what_a_304_says_about_the_stored_response_alone) {
    const auto said = answer(304, {{"ETag", "\"x\""},
                                   {"X-Account", "alice"},
                                   {"cache-control", "max-age=5"},
                                   {"Age", "3"},
                                   {"Server", "s"}});
    const auto plain = impersonal(said);
    EXPECT_EQ(plain.fields, with({{"ETag", "\"x\""}, {"cache-control", "max-age=5"}, {"Age", "3"}}));
    EXPECT_EQ(plain.status, 304u);
}

// RFC 9110, 13.2.2.
TEST(validation, answers_the_clients_own_conditions) {
    const auto both = kept(answer(200, {{"ETag", "\"x\""}, {"Last-Modified", noon_text}}));
    const auto dated = kept(answer(200, {{"Last-Modified", noon_text}}));
    const auto dateless = kept(answer(200, {{"Date", noon_text}}));
    const auto gone = kept(answer(410, {{"ETag", "\"x\""}}));
    struct row {
        stored response;
        field_list request;
        bool expected;
    };
    for (const auto& [response, request, expected] : std::initializer_list<row>{
             {both, {}, false},
             {both, {{"If-None-Match", "\"x\""}}, true},
             {both, {{"If-None-Match", "W/\"x\""}}, true},
             {both, {{"If-None-Match", "\"a,\", \"x\""}}, true},
             {both, {{"If-None-Match", "\"a\""}, {"If-None-Match", "\"x\""}}, true},
             {both, {{"If-None-Match", "*"}}, true},
             {both, {{"If-None-Match", "\"a\""}}, false},
             {both, {{"If-None-Match", "x"}}, false},
             {both, {{"If-None-Match", "\"a\""}, {"If-Modified-Since", evening}}, false},
             {both, {{"If-None-Match", "\"x\""}, {"If-Modified-Since", morning}}, true},
             {both, {{"If-Modified-Since", noon_text}}, true},
             {both, {{"If-Modified-Since", evening}}, true},
             {both, {{"If-Modified-Since", morning}}, false},
             {both, {{"If-Modified-Since", "Monday, 01-Jan-24 12:00:00 GMT"}}, true},
             {both, {{"If-Modified-Since", "soon"}}, false},
             {dated, {{"If-None-Match", "\"x\""}}, false},
             {dated, {{"If-None-Match", "*"}}, true},
             {dateless, {{"If-Modified-Since", evening}}, true},
             {dateless, {{"If-Modified-Since", morning}}, false},
             {gone, {{"If-None-Match", "\"x\""}}, false},
         }) {
        const auto text = with(request).combined("If-None-Match").value_or("none");
        EXPECT_EQ(not_modified(get(request), *response, noon), expected) << text;
        EXPECT_EQ(not_modified(get(request, "HEAD"), *response, noon), expected) << text;
        EXPECT_FALSE(not_modified(get(request, "POST"), *response, noon));
    }
}

// A 304 may bring a cookie: it is for the client that asked.
TEST(validation, cookies_of_a_304_are_not_kept) {
    const auto old = kept(answer(200, {{"ETag", "\"x\""}, {"Cache-Control", "max-age=60"}}));
    const auto fresh =
        freshened(*old, get(), answer(304, {{"ETag", "\"x\""}, {"Set-Cookie", "a=b"}, {"X-New", "1"}}),
                  {noon + 90, noon + 90});
    ASSERT_TRUE(fresh);
    EXPECT_FALSE(fresh->head.fields.has("Set-Cookie"));
    EXPECT_TRUE(fresh->head.fields.has("X-New"));
    EXPECT_TRUE(storable(get(), fresh->head, noon + 90));
}

TEST(validation, the_head_of_our_304) {
    const auto head = not_modified_head(*kept(answer(200, {{"Date", noon_text},
                                                           {"ETag", "\"x\""},
                                                           {"Content-Type", "text/html"},
                                                           {"Vary", "Accept"},
                                                           {"Set-Cookie", "a"},
                                                           {"Cache-Control", "max-age=60"}})));
    EXPECT_EQ(head.status, 304u);
    EXPECT_EQ(
        head.fields,
        with({{"Date", noon_text}, {"ETag", "\"x\""}, {"Vary", "Accept"}, {"Cache-Control", "max-age=60"}}));
}

// RFC 9111, 4.3.5
TEST(validation, an_answer_to_head_tells_whether_the_stored_one_holds) {
    const auto held = kept(answer(200, {{"ETag", "\"1\""}, {"Last-Modified", noon_text}}));
    const auto fits = [&](field_list list, unsigned status = 200) {
        return head_fits(*held, answer(status, list));
    };
    EXPECT_TRUE(fits({}));
    EXPECT_TRUE(fits({{"ETag", "\"1\""}, {"Last-Modified", noon_text}, {"Content-Length", "4"}}));
    EXPECT_FALSE(fits({{"ETag", "\"2\""}}));
    EXPECT_FALSE(fits({{"ETag", "\"1\""}, {"Content-Length", "5"}}));
    EXPECT_FALSE(fits({{"ETag", "\"1\""}, {"Last-Modified", "Mon, 01 Jan 2024 13:00:00 GMT"}}));
    EXPECT_FALSE(fits({}, 404));
    EXPECT_FALSE(head_fits(*kept(answer(200)), answer(200, {{"ETag", "\"1\""}})));
}

TEST(validation, what_does_not_hold_is_aged) {
    const auto held = kept(answer(200, {{"Cache-Control", "max-age=60"}, {"ETag", "\"1\""}}));
    const auto old = aged(*held, {noon + 10, noon + 10});
    EXPECT_EQ(old->ttl(noon + 10), 0);
    EXPECT_EQ(old->body, held->body);
    EXPECT_EQ(old->head.fields, held->head.fields);
    EXPECT_EQ(aged(*held, {noon + 100, noon + 100})->ttl(noon + 100), -40);
}

}  // namespace
}  // namespace posy::http_cache
