#include "posy/spectral_filter.hpp"

#include <cmath>

#include "checked.hpp"
#include "payload.hpp"
#include "posy/count_min.hpp"
#include "sketch/zipf.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr std::array all_methods{spectral_method::minimum_selection, spectral_method::minimum_increase,
                                 spectral_method::recurring_minimum};

class every_spectral_shape : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(spectral_filter, every_spectral_shape, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

// In any layout, with any method, through removals, and read back from a message.
TEST_P(every_spectral_shape, never_counts_less_than_there_is) {
    SCOPED_TRACE(describe(GetParam()));
    for (const spectral_method method : all_methods) {
        checked filter(*spectral_filter::make(GetParam(), method));
        const hasher hash = filter->hash();
        std::mt19937_64 random(5);
        for (int step = 0; step < 400; ++step) {
            const digest d = hash(random() % 50);
            if (method != spectral_method::minimum_increase && random() % 3 == 0 &&
                filter.number_of(d).value_or(0) > 0) {
                const auto removed = filter.remove(d);
                ASSERT_TRUE(removed);
                EXPECT_TRUE(*removed);
            } else {
                filter.insert(d, static_cast<std::uint32_t>(random() % 4));
            }
        }
        const auto back = filter.sent();
        EXPECT_EQ(back->geometry(), filter->geometry());
        EXPECT_EQ(back->method(), method);
        EXPECT_EQ(back->items(), filter->items());
        for (int key = 0; key < 100; ++key) EXPECT_EQ(back.estimate(hash(key)), filter.estimate(hash(key)));
    }
}

// With the minimum selection everything that went in can be taken out.
TEST_P(every_spectral_shape, selection_returns_to_nothing) {
    SCOPED_TRACE(describe(GetParam()));
    checked filter(*spectral_filter::make(GetParam(), spectral_method::minimum_selection));
    const hasher hash = filter->hash();
    for (int key = 0; key < 60; ++key) filter.insert(hash(key), 2u);
    for (int round = 0; round < 2; ++round) {
        for (int key = 0; key < 60; ++key) EXPECT_TRUE(*filter.remove(hash(key)));
    }
    for (std::uint64_t i = 0; i < filter->geometry().bits; ++i) ASSERT_EQ(filter->counter(i), 0u);
    EXPECT_FALSE(*filter.remove(hash(0)));
    EXPECT_EQ(filter->items(), 0u);
}

struct errors {
    double wrong = 0, mean = 0, below = 0;
};
errors errors_of(const spectral_filter& filter, const std::vector<std::uint32_t>& truth) {
    sample wrong(100, "keys that are there"), off(100), below(100);
    for (std::size_t key = 0; key < truth.size(); ++key) {
        if (truth[key] == 0) continue;
        const double excess = static_cast<double>(filter.estimate(filter.hash()(key))) - truth[key];
        wrong.add(excess != 0);
        off.add(std::abs(excess));
        below.add(excess < 0);
    }
    return {wrong.mean(), off.mean(), below.mean()};
}

// Cohen and Matias: the minimum selection errs as often as the Bloom filter of the other keys; the other two
// methods err less and by less. 1000 keys in 7,000 counters with 5 hashes, a share of 0.71; 40 filters.
// Within 5.5 standard errors of the mean (Student's t with 39 degrees of freedom: a false alarm in 10^5).
TEST(spectral_filter, errors_of_the_three_methods) {
    at_least rows(members<layout_id>.size() - 1, "layouts");
    for (const layout_id layout : members<layout_id>) {
        const geometry shape{round_up_bits(7'000, 5, layout), 5, layout};
        if (!check(shape)) continue;  // paired takes an even number of hashes
        ++rows;
        constexpr unsigned filters = 40;
        sample wrong(filters, describe(shape));
        std::array<errors, 3> sums{};
        for (unsigned f = 0; f < filters; ++f) {
            geometry g = shape;
            g.seed.low = f;
            const stream s(1.05, 1000, 20'000, f);
            for (std::size_t m = 0; m < 3; ++m) {
                auto filter = *spectral_filter::make(g, all_methods[m]);
                for (const std::uint64_t key : s.items) filter.insert(filter.hash()(key));
                const errors e = errors_of(filter, s.truth);
                sums[m].wrong += e.wrong / filters;
                sums[m].mean += e.mean / filters;
                sums[m].below += e.below / filters;
                if (m == 0) wrong.add(e.wrong);
            }
        }
        const auto& [selection, increase, recurring] = sums;
        wrong.expect_mean(spectral_filter::expected_wrong(shape, 1000), 5.5);
        EXPECT_EQ(selection.below, 0);
        EXPECT_EQ(increase.below, 0);
        EXPECT_LT(recurring.below, layout == layout_id::narrow ? 1e-3 : 1e-4);
        EXPECT_LT(increase.mean, selection.mean / 3);
        EXPECT_LT(recurring.mean, selection.mean / 2);
        EXPECT_LT(increase.wrong, selection.wrong);
        EXPECT_LT(recurring.wrong, selection.wrong);
    }
}

// Few keys in few counters, and one alone; the share of wrong answers is a binomial but for what keys of one
// filter have in common, so 5 standard errors of 400 filters' own spread: a false alarm in 10^6.
TEST(spectral_filter, wrong_answers_are_those_expected_from_one_key_on) {
    for (const auto& [keys, counters] :
         {std::pair<std::uint64_t, std::uint64_t>{1, 64}, {2, 8}, {5, 20}, {30, 100}, {200, 1500}}) {
        const geometry shape{counters, 3, layout_id::spread};
        const double expected = spectral_filter::expected_wrong(shape, keys);
        constexpr unsigned filters = 400;
        sample shares(filters, std::to_string(keys) + " keys in " + std::to_string(counters));
        for (unsigned f = 0; f < filters; ++f) {
            geometry g = shape;
            g.seed.low = f + 1;
            auto filter = *spectral_filter::make(g, spectral_method::minimum_selection);
            for (std::uint64_t key = 0; key < keys; ++key)
                filter.insert(filter.hash()(key), static_cast<std::uint32_t>(key % 7 + 1));
            double wrong = 0;
            for (std::uint64_t key = 0; key < keys; ++key)
                wrong += filter.estimate(filter.hash()(key)) != key % 7 + 1;
            shares.add(wrong / static_cast<double>(keys));
        }
        shares.expect_mean(expected, 5, 1e-12);
    }
}

TEST(spectral_filter, its_projection_is_the_filter_of_its_keys) {
    const geometry g{3000, 4, layout_id::spread};
    for (const spectral_method method : all_methods) {
        auto filter = *spectral_filter::make(g, method);
        auto plain = *bloom_filter::make(g);
        for (int key = 0; key < 300; ++key) {
            filter.insert(filter.hash()(key), 3);
            plain.insert(filter.hash()(key));
        }
        EXPECT_EQ(*filter.projection(), plain);
    }
    EXPECT_EQ(spectral_filter::memory_bytes(g, spectral_method::minimum_increase), 12'000u);
    EXPECT_EQ(spectral_filter::memory_bytes(g, spectral_method::recurring_minimum), 12'000u + 6'000 + 376);
}

// A window that slides over a stream: removals keep the recurring minimum better than the minimum selection.
TEST(spectral_filter, recurring_minimum_through_removals) {
    const geometry g{7'000, 5, layout_id::spread};
    const stream s(1.05, 1000, 100'000, 1);
    auto selection = *spectral_filter::make(g, spectral_method::minimum_selection);
    auto recurring = *spectral_filter::make(g, spectral_method::recurring_minimum);
    std::vector<std::uint32_t> truth(s.truth.size());
    constexpr std::size_t window = 40'000;
    for (std::size_t i = 0; i < s.items.size(); ++i) {
        ++truth[s.items[i]];
        selection.insert(selection.hash()(s.items[i]));
        recurring.insert(selection.hash()(s.items[i]));
        if (i < window) continue;
        const std::uint64_t old = s.items[i - window];
        --truth[old];
        ASSERT_TRUE(*selection.remove(selection.hash()(old)));
        ASSERT_TRUE(*recurring.remove(selection.hash()(old)));
    }
    const errors a = errors_of(selection, truth), b = errors_of(recurring, truth);
    EXPECT_EQ(a.below, 0);
    EXPECT_LT(b.below, 0.01);
    EXPECT_LT(b.wrong, a.wrong);
    EXPECT_LT(b.mean, a.mean);
}

TEST(spectral_filter, a_stuck_counter_stays) {
    const geometry g{64, 2, layout_id::spread};
    for (const counter_width width : members<counter_width>) {
        auto filter = *spectral_filter::make(g, spectral_method::minimum_selection, width);
        const digest d = filter.hash()("x");
        filter.insert(d, largest_of(width));
        filter.insert(d, 5);
        EXPECT_TRUE(*filter.remove(d));
        EXPECT_EQ(filter.estimate(d), largest_of(width));
    }
}

// Weights of 2^40 and sums above 10^15, with every method, removed again, sent, and united with narrow ones.
TEST(spectral_filter, wide_counters_hold_large_sums) {
    const geometry g{900, 3, layout_id::spread};
    constexpr std::uint64_t large = std::uint64_t{1} << 40;
    for (const spectral_method method : all_methods) {
        checked filter(*spectral_filter::make(g, method, counter_width::bits_64));
        const hasher hash = filter->hash();
        for (std::uint64_t key = 0; key < 50; ++key) filter.insert(hash(key), large * (key + 1) + key);
        EXPECT_GT(filter->items(), 1'000'000'000'000'000u);
        if (method != spectral_method::minimum_increase) EXPECT_TRUE(*filter.remove(hash(3)));
        EXPECT_EQ(filter.sent()->counter_width(), counter_width::bits_64);
        EXPECT_EQ(spectral_filter::memory_bytes(g, method, counter_width::bits_64), filter->memory_bytes());
        expect_robust(*filter, method != spectral_method::recurring_minimum);
        if (method == spectral_method::recurring_minimum) continue;
        checked narrow(*spectral_filter::make(g, method));
        narrow.insert(hash(7), 0xffffff00u);
        ASSERT_TRUE(unite(narrow, filter));
        EXPECT_EQ(narrow->counter_width(), counter_width::bits_64);
        EXPECT_GE(narrow.estimate(hash(7)), large * 8 + 7 + 0xffffff00u);
    }
}

TEST(spectral_filter, uniting) {
    const geometry g{600, 4, layout_id::sliced};
    for (const spectral_method method : all_methods) {
        const auto empty = [&] { return *spectral_filter::make(g, method); };
        checked a(empty()), b(empty()), both(empty());
        const hasher hash = a->hash();
        std::mt19937_64 random(2);
        for (int i = 0; i < 3000; ++i) {
            const digest d = hash(random() % 150);
            (i % 2 ? a : b).insert(d);
            both.insert(d);
        }
        const auto united = unite(a, b);
        if (method == spectral_method::recurring_minimum) {
            EXPECT_FALSE(united);
            continue;
        }
        ASSERT_TRUE(united);
        EXPECT_EQ(a->items(), 3000u);
        EXPECT_EQ(a.known(), both.known());
        if (method == spectral_method::minimum_selection) {
            for (std::uint64_t i = 0; i < g.bits; ++i) ASSERT_EQ(a->counter(i), both->counter(i));
        }
    }
    auto filter = *spectral_filter::make(g, spectral_method::minimum_selection);
    EXPECT_EQ(
        unite(filter, *spectral_filter::make(g, spectral_method::minimum_increase)).error().message,
        "the filters count by minimum selection and by minimum increase; only filters of one method unite");
    EXPECT_FALSE(unite(filter, *spectral_filter::make({604, 4, layout_id::sliced}, filter.method())));
}

TEST(spectral_filter, refusals) {
    EXPECT_FALSE(spectral_filter::make({0, 3}, spectral_method::minimum_selection));
    EXPECT_EQ(spectral_filter::make({512, 3}, spectral_method{4}).error().message,
              "unknown spectral method 4");
    EXPECT_FALSE(
        spectral_filter::make({count_min::max_counters + 512, 3}, spectral_method::minimum_selection));
    auto filter = *spectral_filter::make({512, 3}, spectral_method::minimum_increase);
    filter.insert(filter.hash()("x"));
    EXPECT_FALSE(filter.remove(filter.hash()("x")));
    EXPECT_EQ(filter.estimate(filter.hash()("x")), 1u);
}

// Method, layout, hashes, counters, items; the counters; then, of the recurring minimum, the marks as a
// nested array and the second filter's counters.
TEST(spectral_filter, bytes) {
    const geometry g{12, 2, layout_id::spread};
    const std::array golden{"0101020c0f00020303030600000903030000", "0201020c0f00020303030300000303030000",
                            "0301020c0f00020303030600000903030000"
                            "0203042b3d"
                            "03030300000603"};
    for (std::size_t m = 0; m < 3; ++m) {
        auto filter = *spectral_filter::make(g, all_methods[m]);
        for (int key = 0; key < 5; ++key) filter.insert(filter.hash()(key), 3);
        EXPECT_EQ(hex(payload_of(filter)), golden[m]);
        expect_robust(filter, all_methods[m] != spectral_method::recurring_minimum);
    }
}

TEST(spectral_filter, parsing_keeps_its_limits) {
    const geometry g{1 << 20, 3};
    const auto filter = *spectral_filter::make(g, spectral_method::recurring_minimum);
    const std::uint64_t memory = (4 << 20) + (2 << 20) + (1 << 17);
    EXPECT_TRUE(spectral_filter::parse(filter.hash(), payload_of(filter), read_limits::exactly(memory)));
    EXPECT_FALSE(spectral_filter::parse(filter.hash(), payload_of(filter), read_limits::exactly(memory - 1)));
}

}  // namespace
}  // namespace posy
