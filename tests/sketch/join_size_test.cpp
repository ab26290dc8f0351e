#include "posy/join_size.hpp"

#include <cmath>

#include "statistics.hpp"
#include "support.hpp"
#include "zipf.hpp"

namespace posy {
namespace {

count_min sketch_of(const stream& s, hasher hash, std::uint64_t width, unsigned depth) {
    auto sketch = *count_min::make(hash, width, depth);
    sketch.add(std::span<const std::uint64_t>(s.items));
    return sketch;
}

double joined(const stream& a, const stream& b) {
    double rows = 0;
    for (std::size_t i = 1; i < std::min(a.truth.size(), b.truth.size()); ++i)
        rows += static_cast<double>(a.truth[i]) * b.truth[i];
    return rows;
}

// Streams from nearly even to very skewed, and 400 seeds each. An interval of 95 % may miss in 20 of 400, and
// its variance is an upper bound, so fewer; more than 42 (five deviations) are one false alarm in a million.
TEST(join_size, intervals_hold_the_truth_and_the_mean_is_right) {
    for (const double skew : {0.1, 0.8, 1.3}) {
        const stream a(skew, 5'000, 20'000, 1), b(skew, 2'000, 10'000, 2);
        const double truth = joined(a, b);
        sample errors(400);
        int missed = 0;
        double widths = 0;
        for (std::uint64_t seed = 0; seed < 400; ++seed) {
            const hasher hash(hash_family::xxh3, {seed, 0});
            const auto found = *join_size(sketch_of(a, hash, 500, 4), sketch_of(b, hash, 500, 4));
            missed += truth < found.low || truth > found.high;
            errors.add(found.value - truth);
            widths += (found.high - found.low) / 400;
        }
        EXPECT_LE(missed, 42) << skew;
        // The mean of 400 estimates: the interval is 3.92 deviations wide, and five of the mean's are
        // allowed.
        EXPECT_NEAR(errors.mean(), 0, 5 * widths / 3.92 / 20) << skew;
    }
}

TEST(join_size, is_never_above_what_the_tables_prove_and_exact_without_collisions) {
    const hasher hash(hash_family::xxh3, {1, 0});
    auto a = *count_min::make(hash, 1 << 16, 4), b = *count_min::make(hash, 1 << 16, 4);
    EXPECT_EQ(join_size(a, b)->value, 0);
    a.add(hash("both"), 3);
    b.add(hash("both"), 5);
    a.add(hash("here"), 100);
    b.add(hash("there"), 100);
    const auto found = *join_size(a, b);
    EXPECT_LE(found.low, 15);
    EXPECT_EQ(found.high, 15);
    EXPECT_NEAR(found.value, 15, 0.2);
}

TEST(join_size, refuses_what_it_cannot_know) {
    const hasher hash(hash_family::xxh3, {1, 0});
    const auto a = *count_min::make(hash, 100, 4);
    const auto message = [&](const count_min& b) { return join_size(a, b).error().text(); };
    EXPECT_NE(message(*count_min::make(hasher(hash_family::xxh3, {2, 0}), 100, 4)).find("seed"),
              std::string::npos);
    EXPECT_NE(message(*count_min::make(hash, 100, 3)).find("3 rows of 100"), std::string::npos);
    EXPECT_NE(message(*count_min::make(hash, 100, 4, update_rule::conservative)).find("plain"),
              std::string::npos);
    auto full = *count_min::make(hash, 100, 4);
    full.add(hash("x"), ~std::uint64_t{0});
    EXPECT_NE(message(full).find("64-bit"), std::string::npos);
    const auto narrow = *count_min::make(hash, 1, 4);
    EXPECT_FALSE(join_size(narrow, narrow).ok());
}

}  // namespace
}  // namespace posy
