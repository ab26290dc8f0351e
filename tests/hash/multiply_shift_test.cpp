#include <gtest/gtest.h>

#include "posy/digest.hpp"
#include "statistics.hpp"

namespace posy {
namespace {

TEST(multiply_shift, pinned) {
    const hasher h(hash_family::multiply_shift, {42});
    EXPECT_EQ(h(""), (digest{0xbdd732262feb6e95, 0x47526757130f9f52}));
    EXPECT_EQ(h("posy"), (digest{0x52483693752f82ce, 0x7160d979b82afd50}));
    EXPECT_EQ(h("http://example.org/a/rather/long/path?with=arguments"),
              (digest{0x839bf548fad8c8c1, 0xe76ad577c302b1e2}));
}

TEST(multiply_shift, keys_that_differ_only_in_length_differ) {
    const hasher h(hash_family::multiply_shift);
    EXPECT_NE(h(std::string_view("\0", 1)), h(std::string_view("\0\0", 2)));
    EXPECT_NE(h(""), h(std::string_view("\0", 1)));
}

// Pairwise independence, seen from the seeds: for two fixed keys, the top byte of both halves agrees in one
// of 256 draws. 200,000 draws; the tolerance is 4.5 deviations of that count (odds of a false alarm 1 in
// 10^5).
TEST(multiply_shift, two_keys_meet_as_often_as_random_values) {
    const std::pair<std::uint64_t, std::uint64_t> pairs[] = {
        {0, 1}, {1, 2}, {7, std::uint64_t{7} << 32}, {5, 6}};
    for (const auto& [x, y] : pairs) {
        constexpr std::uint64_t draws = 200'000;
        const std::string keys = std::to_string(x) + " and " + std::to_string(y);
        bernoulli low(draws, keys), high(draws, keys);
        for (std::uint64_t seed = 1; seed <= draws; ++seed) {
            const hasher h(hash_family::multiply_shift, {seed});
            const digest a = h(x), b = h(y);
            low.add(a.low >> 56 == b.low >> 56, 1.0 / 256);
            high.add(a.high >> 56 == b.high >> 56, 1.0 / 256);
        }
        low.expect(4.5);
        high.expect(4.5);
    }
}

}  // namespace
}  // namespace posy
