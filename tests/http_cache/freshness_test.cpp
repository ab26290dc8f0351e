#include "posy/http_cache/freshness.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

seconds lifetime(unsigned status, field_list list, seconds received = noon) {
    const auto head = answer(status, list);
    return freshness_lifetime(head, response_directives_of(head.fields), received);
}

constexpr std::string_view hour_later = "Mon, 01 Jan 2024 13:00:00 GMT";
constexpr std::string_view hour_before = "Mon, 01 Jan 2024 11:00:00 GMT";
constexpr std::string_view year_before = "Sun, 01 Jan 2023 12:00:00 GMT";

// RFC 9111, 4.2.1: the first that is there decides.
TEST(freshness, stated_lifetimes) {
    EXPECT_EQ(lifetime(200, {{"Cache-Control", "max-age=1, s-maxage=2"}, {"Expires", hour_later}}), 2);
    EXPECT_EQ(lifetime(200, {{"Cache-Control", "max-age=1"}, {"Expires", hour_later}}), 1);
    EXPECT_EQ(lifetime(200, {{"Cache-Control", "max-age=0"}, {"Expires", hour_later}}), 0);
    EXPECT_EQ(lifetime(200, {{"Date", noon_text}, {"Expires", hour_later}}), 3600);
    EXPECT_EQ(lifetime(200, {{"Date", hour_before}, {"Expires", hour_later}}), 7200);
    EXPECT_EQ(lifetime(200, {{"Expires", hour_later}}), 3600);
    EXPECT_EQ(lifetime(500, {{"Expires", hour_later}}), 3600);
    EXPECT_EQ(lifetime(200, {{"Date", "yesterday"}, {"Expires", hour_later}}), 3600);
    EXPECT_EQ(lifetime(200, {{"Date", noon_text}, {"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}}),
              most_seconds);
}

// A response with an invalid lifetime is stale, even where the heuristic would call it fresh.
TEST(freshness, invalid_is_stale) {
    const auto modified = std::pair(std::string_view("Last-Modified"), year_before);
    EXPECT_EQ(lifetime(200, {modified, {"Expires", "0"}}), 0);
    EXPECT_EQ(lifetime(200, {modified, {"Expires", "-1"}}), 0);
    EXPECT_EQ(lifetime(200, {modified, {"Expires", ""}}), 0);
    EXPECT_EQ(lifetime(200, {modified, {"Expires", hour_before}}), 0);
    EXPECT_EQ(lifetime(200, {modified, {"Expires", hour_later}, {"Expires", noon_text}}), 0);
    EXPECT_EQ(lifetime(200, {modified, {"Expires", hour_later}, {"expires", hour_later}}), 3600);
    EXPECT_EQ(lifetime(200, {modified, {"Cache-Control", "max-age=x"}, {"Expires", hour_later}}), 0);
}

TEST(freshness, heuristic) {
    EXPECT_EQ(lifetime(200, {{"Date", noon_text}, {"Last-Modified", hour_before}}), 360);
    EXPECT_EQ(lifetime(404, {{"Last-Modified", hour_before}}), 360);
    EXPECT_EQ(lifetime(200, {{"Last-Modified", year_before}}), heuristic_cap);
    EXPECT_EQ(lifetime(200, {{"Last-Modified", hour_later}}), 0);
    EXPECT_EQ(lifetime(200, {{"Last-Modified", "once"}}), 0);
    EXPECT_EQ(lifetime(200, {}), 0);
    EXPECT_EQ(lifetime(302, {{"Last-Modified", hour_before}}), 0);
    EXPECT_EQ(lifetime(302, {{"Last-Modified", hour_before}, {"Cache-Control", "public"}}), 360);
}

TEST(freshness, explicit_or_not) {
    const auto stated = [](field_list list) {
        const auto all = with(list);
        return has_explicit_lifetime(all, response_directives_of(all));
    };
    EXPECT_TRUE(stated({{"Expires", "0"}}));
    EXPECT_TRUE(stated({{"Cache-Control", "max-age"}}));
    EXPECT_TRUE(stated({{"Cache-Control", "s-maxage=1"}}));
    EXPECT_FALSE(stated({{"Cache-Control", "public"}, {"Last-Modified", hour_before}}));
}

// RFC 9111, 4.2.3.
TEST(freshness, age_on_arrival) {
    const auto age = [](field_list list, seconds took = 0) {
        return initial_age(with(list), noon - took, noon);
    };
    EXPECT_EQ(age({}), 0);
    EXPECT_EQ(age({{"Date", noon_text}}), 0);
    EXPECT_EQ(age({{"Date", hour_before}}), 3600);  // apparent age
    EXPECT_EQ(age({{"Date", hour_later}}), 0);      // a clock ahead of ours
    EXPECT_EQ(age({{"Date", noon_text}, {"Age", "50"}}), 50);
    EXPECT_EQ(age({{"Date", noon_text}, {"Age", "50"}}, 7), 57);  // the exchange took time
    EXPECT_EQ(age({{"Date", hour_before}, {"Age", "50"}}, 7), 3600);
    EXPECT_EQ(age({{"Date", noon_text}}, 7), 7);
    EXPECT_EQ(age({}, -7), 0);  // the clock was set back
    EXPECT_EQ(age({{"Age", "-1"}}), 0);
    EXPECT_EQ(age({{"Age", "1.5"}}), 0);
    EXPECT_EQ(age({{"Age", "10, 20"}}), 10);
    EXPECT_EQ(age({{"Age", "99999999999999999999"}}), most_seconds);
}

TEST(freshness, expires_does_not_count_beside_a_targeted_field) {
    const auto head =
        answer(200, {{"CDN-Cache-Control", "max-age=5"}, {"Expires", "0"}, {"Cache-Control", "max-age=9"}});
    EXPECT_EQ(freshness_lifetime(head, response_directives_of(head.fields), noon), 5);
    const auto other =
        answer(200, {{"CDN-Cache-Control", "public"}, {"Expires", "Mon, 01 Jan 2034 12:00:00 GMT"}});
    EXPECT_EQ(freshness_lifetime(other, response_directives_of(other.fields), noon), 0);
    EXPECT_FALSE(has_explicit_lifetime(other.fields, response_directives_of(other.fields)));
}

}  // namespace
}  // namespace posy::http_cache
