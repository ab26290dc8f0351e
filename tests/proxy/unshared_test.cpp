#include "proxy/unshared.hpp"

#include <gtest/gtest.h>

#include <string>

namespace posy::proxy {
namespace {

using namespace std::chrono_literals;

TEST(unshared, remembers_for_a_while) {
    unshared urls;
    const unshared::time_point now{1h};
    EXPECT_FALSE(urls.has("http://a/", now));
    urls.add("http://a/", now);
    EXPECT_TRUE(urls.has("http://a/", now));
    EXPECT_FALSE(urls.has("http://b/", now));
    EXPECT_TRUE(urls.has("http://a/", now + unshared::time - 1s));
    EXPECT_FALSE(urls.has("http://a/", now + unshared::time));
    urls.add("http://a/", now);
    urls.remove("http://a/");
    EXPECT_FALSE(urls.has("http://a/", now));
}

TEST(unshared, is_bounded) {
    unshared urls;
    const unshared::time_point now{1h};
    const auto all = 2 * unshared::places;
    for (std::size_t i = 0; i < all; ++i) urls.add(std::to_string(i), now);
    std::size_t known = 0;
    for (std::size_t i = 0; i < all; ++i) known += urls.has(std::to_string(i), now);
    EXPECT_LE(known, unshared::places);
    // Each place is taken with probability 1 - exp(-2) = 0.86; a standard deviation is below 0.003.
    EXPECT_GT(known, unshared::places * 84 / 100);
    EXPECT_TRUE(urls.has(std::to_string(all - 1), now));
}

}  // namespace
}  // namespace posy::proxy
