#include "reconcile/difference_sketch.hpp"

#include <cmath>

#include "sets.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

TEST(reconcile_sketch, equal_sets_have_no_difference) {
    const auto sets = make_sets(1000, 0, 0);
    const estimate e = estimate_difference(difference_sketch::of(sets.a), difference_sketch::of(sets.b));
    EXPECT_EQ(e.value, 0);
    EXPECT_EQ(e.high, 0);
}

TEST(reconcile_sketch, one_element_more_is_one) {
    const auto sets = make_sets(1000, 1, 0);
    const estimate e = estimate_difference(difference_sketch::of(sets.b), difference_sketch::of(sets.a));
    EXPECT_EQ(e.value, 1);
    EXPECT_EQ(e.low, 1);
}

// 400 pairs per shape: the mean to 4.5 standard errors of √(2/64) each; the interval misses 20 ± 4.4 times,
// above 42 once in 10^5.
TEST(reconcile_sketch, estimates_are_true_on_average_and_so_are_their_intervals) {
    for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{100, 100}, {3, 5}, {400, 600}}) {
        const auto d = static_cast<double>(a + b);
        constexpr int trials = 400;
        sample values(trials);
        int missed = 0;
        for (std::uint64_t t = 0; t < trials; ++t) {
            const auto sets = make_sets(300, a, b, digest_width::full, 31 * t + a);
            const estimate e =
                estimate_difference(difference_sketch::of(sets.a), difference_sketch::of(sets.b));
            values.add(e.value);
            missed += e.low > d || e.high < d;
        }
        EXPECT_NEAR(values.mean(), d, 4.5 * d * std::sqrt(2.0 / 64) / std::sqrt(trials)) << a << " " << b;
        EXPECT_LE(missed, 42) << a << " " << b;
    }
}

// Where one set has many more, what is known for certain bounds the estimate.
TEST(reconcile_sketch, is_never_below_the_difference_of_the_sizes) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto sets = make_sets(50, 400, 0, digest_width::half, seed);
        const estimate e = estimate_difference(difference_sketch::of(sets.a), difference_sketch::of(sets.b));
        EXPECT_GE(e.low, 400);
        EXPECT_LE(e.low, e.value);
        EXPECT_LE(e.value, e.high);
    }
}

TEST(reconcile_sketch, comes_back_as_it_went) {
    for (const std::size_t size : {0u, 1u, 5u, 10'000u}) {
        const auto sketch = difference_sketch::of(make_sets(size, 0, 0, digest_width::full).a);
        const auto bytes = payload_of(sketch);
        EXPECT_LE(bytes.size(), 140u);
        const auto back = difference_sketch::parse(hasher(), bytes);
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(back->items, size);
        EXPECT_EQ(back->positive, sketch.positive);
        EXPECT_EQ(back->width, digest_width::full);
        expect_cuts_are_refused<difference_sketch>(bytes);
    }
}

TEST(reconcile_sketch, golden_bytes) {
    const digest_set set(hasher(), digest_width::half, {{1, 0}, {2, 0}, {0x0102030405060708, 0}});
    EXPECT_EQ(hex(payload_of(difference_sketch::of(set))),
              "0803000000020001040000000004040204000200040202020002000201000004020200010200040404020000000004"
              "00020400020202020100020102000202020001");
}

TEST(reconcile_sketch, wrong_payloads_say_what_and_where) {
    std::string sums;
    for (int j = 1; j < 64; ++j) sums += "00";
    expect_refused<difference_sketch>("0402" + sums, 0, "digests of 4 bytes");
    expect_refused<difference_sketch>("080203" + sums, 2, "fewer than no elements");
    expect_refused<difference_sketch>("080204" + sums, 2, "more than the set has");
    expect_refused<difference_sketch>("08ffffffffffffffffff0100" + sums, 1, "2^62 items");
}

}  // namespace
}  // namespace posy::reconcile
