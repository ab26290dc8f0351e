#include "posy/http_cache/http_date.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace posy::http_cache {
namespace {

constexpr seconds in_1994 = 784111777;  // the example of RFC 9110, 5.6.7
constexpr seconds in_2024 = 1704067200;

TEST(http_date, reads_the_three_forms) {
    for (const auto* text :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
          "  Sun, 06 Nov 1994 08:49:37 GMT\t", "SUN, 06 nov 1994 08:49:37 Gmt",
          "SUNDAY, 06-NOV-94 08:49:37 gmt", "sun nov  6 08:49:37 1994",
          "Mon, 06 Nov 1994 08:49:37 GMT"}) {  // the wrong weekday
        EXPECT_EQ(parse_http_date(text, in_2024), in_1994) << text;
    }
    EXPECT_EQ(parse_http_date("Thu Jan  1 00:00:00 1970", 0), 0);
    EXPECT_EQ(parse_http_date("Wed, 31 Dec 1969 23:59:59 GMT", 0), -1);
    EXPECT_EQ(parse_http_date("Thu, 29 Feb 2024 12:00:00 GMT", 0), in_2024 + 59 * 86400 + 43200);
    EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", 0),
              parse_http_date("Sun, 01 Jan 2017 00:00:00 GMT", 0));
}

TEST(http_date, refuses_everything_else) {
    for (const auto* text : {"",
                             "0",
                             "-1",
                             "now",
                             "Sun, 06 Nov 1994 08:49:37",
                             "Sun, 06 Nov 1994 08:49:37 UTC",
                             "Sun, 6 Nov 1994 08:49:37 GMT",
                             "Sun, 06 Nov 94 08:49:37 GMT",
                             "Sun 06 Nov 1994 08:49:37 GMT",
                             "Sun, 31 Nov 1994 08:49:37 GMT",
                             "Wed, 29 Feb 2023 08:49:37 GMT",
                             "Sun, 00 Nov 1994 08:49:37 GMT",
                             "Sun, 06 Nov 1994 24:00:00 GMT",
                             "Sun, 06 Nov 1994 08:60:37 GMT",
                             "Sun, 06 Nov 1994 08:49:61 GMT",
                             "Sun, 06 Nov 1994 08:49:37 GMT ;",
                             "Xxx, 06 Nov 1994 08:49:37 GMT",
                             "Sun, 06 Nov 1994 8:49:37 GMT",
                             "Sun, 06-Nov-94 08:49:37 GMT",
                             "Sunday, 06-Nov-1994 08:49:37 GMT",
                             "Sun Nov 6 08:49:37 1994",
                             "Sun Nov 06 08:49:37 1994 GMT",
                             "Sun, 06 Nov +994 08:49:37 GMT",
                             "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT"}) {
        EXPECT_EQ(parse_http_date(text, in_2024), std::nullopt) << text;
    }
}

// More than 50 years ahead means the century before (RFC 9110, 5.6.7); 2024-01-01 plus 50 years of 365.2425
// days is 2073-12-31 03:00.
TEST(http_date, two_digit_years_are_of_the_nearer_century) {
    const auto year = [](const char* text, seconds now) {
        const auto when = parse_http_date(text, now);
        return when ? http_date(*when).substr(12, 4) : "none";
    };
    EXPECT_EQ(year("Sunday, 31-Dec-73 02:59:59 GMT", in_2024), "2073");
    EXPECT_EQ(year("Sunday, 31-Dec-73 03:00:01 GMT", in_2024), "1973");
    EXPECT_EQ(year("Monday, 01-Jan-74 00:00:00 GMT", in_2024), "1974");
    EXPECT_EQ(year("Monday, 01-Jan-75 00:00:00 GMT", in_2024), "1975");
    EXPECT_EQ(year("Monday, 01-Jan-00 00:00:00 GMT", in_2024), "2000");
    EXPECT_EQ(year("Monday, 01-Jan-99 00:00:00 GMT", in_1994), "1999");
    EXPECT_EQ(year("Monday, 01-Jan-44 00:00:00 GMT", in_1994), "2044");
    EXPECT_EQ(year("Monday, 01-Jan-45 00:00:00 GMT", in_1994), "1945");
    EXPECT_EQ(year("Tuesday, 29-Feb-00 00:00:00 GMT", in_2024), "2000");
    EXPECT_EQ(year("Tuesday, 29-Feb-01 00:00:00 GMT", in_2024), "none");
}

TEST(http_date, writes_what_it_reads) {
    EXPECT_EQ(http_date(in_1994), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(http_date(std::numeric_limits<seconds>::max()), "Fri, 31 Dec 9999 23:59:59 GMT");
    EXPECT_EQ(http_date(std::numeric_limits<seconds>::min()), "Sat, 01 Jan 0000 00:00:00 GMT");
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const auto when = std::uniform_int_distribution<seconds>(-62167219200, 253402300799)(random);
        ASSERT_EQ(parse_http_date(http_date(when), 0), when) << http_date(when);
    }
}

// A date with one byte changed is read as some date or refused, never more; the sanitizers watch.
TEST(http_date, reads_any_bytes) {
    std::mt19937_64 random(2);
    for (const std::string text :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Wednesday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
        for (int i = 0; i < 3000; ++i) {
            auto changed = text;
            changed[random() % changed.size()] = static_cast<char>(random());
            changed.resize(random() % 2 == 0 ? changed.size() : random() % changed.size());
            const auto when = parse_http_date(changed, static_cast<seconds>(random()));
            if (when) {
                EXPECT_EQ(parse_http_date(http_date(*when), 0), when);
            }
        }
    }
}

}  // namespace
}  // namespace posy::http_cache
