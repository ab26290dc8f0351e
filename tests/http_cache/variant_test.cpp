#include "posy/http_cache/variant.hpp"

#include <gtest/gtest.h>

#include "heads.hpp"

namespace posy::http_cache {
namespace {

TEST(variant, without_vary_everything_matches) {
    const auto plain = variant_of(with({{"Accept", "a"}}), with({}));
    EXPECT_TRUE(plain.names.empty());
    EXPECT_EQ(plain.key, "");
    EXPECT_TRUE(plain.matches(with({})));
    EXPECT_TRUE(plain.matches(with({{"Accept", "b"}})));
    EXPECT_EQ(variant_of(with({}), with({{"Vary", " , "}})), plain);
}

TEST(variant, names_are_a_set) {
    const auto request = with({{"Accept", "a"}, {"Cookie", "c"}});
    const auto one = variant_of(request, with({{"Vary", "Cookie, accept"}}));
    EXPECT_EQ(one.key, "accept:a\ncookie:c\n");
    EXPECT_EQ(one, variant_of(request, with({{"Vary", "ACCEPT"}, {"vary", "cookie,Accept"}})));
}

TEST(variant, matching_request_fields) {
    const auto response = with({{"Vary", "Accept-Encoding, X"}});
    const auto key = [&](field_list request) { return variant_of(with(request), response); };
    const auto base = key({{"Accept-Encoding", "gzip, br"}});
    struct row {
        field_list request;
        bool matches;
    };
    for (const auto& [request, matches] : std::initializer_list<row>{
             {{{"accept-encoding", "gzip, br"}}, true},
             {{{"Accept-Encoding", " gzip\t,br "}}, true},
             {{{"Accept-Encoding", "gzip"}, {"Accept-Encoding", "br"}}, true},
             {{{"Accept-Encoding", "gzip,,br"}, {"Accept", "other"}}, true},
             {{{"Accept-Encoding", "br, gzip"}}, true},
             {{{"Accept-Encoding", "GZIP, br"}}, true},
             {{{"Accept-Encoding", "gzip, br, br"}}, false},
             {{{"Accept-Encoding", "gzip;q=0, br"}}, false},
             {{{"Accept-Encoding", "gzip br"}}, false},
             {{{"Accept-Encoding", ""}}, false},
             {{}, false},
             {{{"Accept-Encoding", "gzip, br"}, {"X", ""}}, false},
         }) {
        EXPECT_EQ(base.matches(with(request)), matches) << variant_of(with(request), response).key;
        EXPECT_EQ(base == key(request), matches);
    }
}

TEST(variant, preferences_have_no_order_and_no_case) {
    const auto response = with({{"Vary", "Accept-Language, X"}});
    const auto base = variant_of(with({{"Accept-Language", "de, en-GB;q=0.7"}, {"X", "a, B"}}), response);
    EXPECT_TRUE(base.matches(with({{"Accept-Language", "EN-gb ; q = 0.7,De"}, {"X", "a,B"}})));
    EXPECT_FALSE(base.matches(with({{"Accept-Language", "de, en-GB;q=0.8"}, {"X", "a, B"}})));
    EXPECT_FALSE(base.matches(with({{"Accept-Language", "d e, en-GB;q=0.7"}, {"X", "a, B"}})));
    // Of other fields nothing is known.
    EXPECT_FALSE(base.matches(with({{"Accept-Language", "de, en-GB;q=0.7"}, {"X", "B, a"}})));
    EXPECT_FALSE(base.matches(with({{"Accept-Language", "de, en-GB;q=0.7"}, {"X", "a, b"}})));
}

TEST(variant, missing_is_not_empty_and_no_value_reaches_into_the_next) {
    const auto response = with({{"Vary", "A, B"}});
    const auto empty = variant_of(with({{"A", " "}}), response);
    EXPECT_FALSE(empty.matches(with({})));
    EXPECT_TRUE(empty.matches(with({{"A", ""}})));
    EXPECT_NE(variant_of(with({{"A", "1\nb:2"}}), response),
              variant_of(with({{"A", "1"}, {"B", "2"}}), response));
}

TEST(variant, star) {
    EXPECT_TRUE(varies_on_everything(with({{"Vary", "Accept, *"}})));
    EXPECT_TRUE(varies_on_everything(with({{"Vary", "Accept"}, {"Vary", "*"}})));
    EXPECT_FALSE(varies_on_everything(with({{"Vary", "Accept"}})));
    EXPECT_FALSE(varies_on_everything(with({})));
    std::string many = "a";
    for (std::size_t i = 1; i < most_vary_names; ++i) many += ", a" + std::to_string(i);
    EXPECT_FALSE(varies_on_everything(with({{"Vary", many}})));
    EXPECT_TRUE(varies_on_everything(with({{"Vary", many + ", b"}})));
}

}  // namespace
}  // namespace posy::http_cache
