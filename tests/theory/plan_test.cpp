#include "posy/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "posy/theory.hpp"

namespace posy {
namespace {

TEST(plan, a_rate_gets_the_smallest_array) {
    for (const layout_id layout : layout_ids()) {
        for (const double rate : {0.3, 0.01, 1e-4, 1e-7}) {
            const auto p = choose({.items = 100'000, .rate = rate, .layout = layout});
            ASSERT_TRUE(p) << p.error().message;
            EXPECT_LE(p->false_positive_rate, rate);
            // One granule less and the same hashes, and it would not hold.
            geometry smaller = p->geometry();
            smaller.bits -= round_up_bits(1, p->hashes, layout);
            EXPECT_GT(predict(100'000, smaller)->false_positive_rate, rate);
        }
    }
}

TEST(plan, the_classic_optimum) {
    const auto p = *choose({.items = 1'000'000, .bits_per_item = 10, .layout = layout_id::spread});
    EXPECT_EQ(p.bits, 10'000'000u);
    EXPECT_EQ(p.hashes, 7u);
    EXPECT_NEAR(p.false_positive_rate, 0.00819, 0.00001);
    EXPECT_NEAR(p.fill, 0.5, 0.01);
    EXPECT_EQ(p.memory_bytes(), 1'250'000u);
    EXPECT_EQ(p.counting_memory_bytes(), 6'250'000u);
    EXPECT_LE(p.counter_overflow, theory::overflow_bound_power(15, 1e6, 1e7, 7));
}

// Mitzenmacher 2002, Tables I to III: the budget and the memory that the paper allows give the paper's
// choice.
TEST(plan, the_papers_compressed_filters) {
    const struct {
        double message, array;
        unsigned hashes;
        double rate;
    } rows[] = {{8, 14, 2, 0.0177},
                {8, 92, 1, 0.0108},
                {16, 28, 4, 0.000314},
                {16, 48, 3, 0.000222},
                {4, 7, 1, 0.133}};
    for (const auto& [message, array, hashes, rate] : rows) {
        const auto memory = static_cast<std::uint64_t>(array * 10'000 / 8);
        const auto p = choose({.items = 10'000, .message_bits_per_item = message, .max_memory = memory});
        ASSERT_TRUE(p) << p.error().message;
        EXPECT_EQ(p->hashes, hashes) << message << " in " << array;
        EXPECT_NEAR(p->false_positive_rate, rate, 0.006 * rate);
        EXPECT_LE(p->message_bits_per_item(), message);
    }
}

// Table IV: the same rate, the smallest message; with one hash if memory allows, with two if not.
TEST(plan, the_smallest_message_for_a_rate) {
    const auto two =
        *choose({.items = 10'000, .rate = 0.0216, .max_memory = 16'000, .minimize = goal::message});
    EXPECT_EQ(two.hashes, 2u);
    EXPECT_NEAR(two.message_bits_per_item(), 7.582, 0.02);
    const auto one =
        *choose({.items = 10'000, .rate = 0.0216, .max_memory = 60'000, .minimize = goal::message});
    EXPECT_EQ(one.hashes, 1u);
    EXPECT_NEAR(one.message_bits_per_item(), 6.891, 0.01);
}

// Table VI: what a delta costs.
TEST(plan, deltas) {
    const auto p = *predict(10'000, {320'000, 2, layout_id::spread}, 0.05);
    EXPECT_NEAR(p.per_item(*p.delta_bits), 1.6607, 0.0005);
    EXPECT_FALSE(predict(10'000, {320'000, 2, layout_id::spread})->delta_bits);
}

TEST(plan, wishes_hold_together) {
    const auto p = *choose({.items = 5000, .rate = 0.02, .bits_per_item = 12, .max_hashes = 4});
    EXPECT_LE(p.hashes, 4u);
    EXPECT_LE(p.false_positive_rate, 0.02);
    EXPECT_EQ(p.bits, round_up_bits(60'000, p.hashes, p.layout));
    const auto memory = *choose({.items = 5000, .max_memory = 6400});
    EXPECT_EQ(memory.bits, 51'200u);
    const auto fixed = *choose({.items = 5000, .rate = 0.01, .hashes = 3, .layout = layout_id::sliced});
    EXPECT_EQ(fixed.hashes, 3u);
    EXPECT_EQ(fixed.bits % 3, 0u);
}

TEST(plan, impossible_wishes_say_which) {
    const auto why = [](const wishes& w) {
        const auto p = choose(w);
        return p ? "possible" : p.error().message;
    };
    EXPECT_EQ(why({}), "items must be at least 1");
    EXPECT_NE(why({.items = 10, .rate = std::nan("")}).find("rate"), std::string::npos);
    EXPECT_NE(why({.items = 1000, .rate = 1e-6, .bits_per_item = 8}).find("cannot be had: the best is"),
              std::string::npos);
    EXPECT_NE(why({.items = 1000, .rate = 1e-6, .max_memory = 100}).find("the largest allowed is 100"),
              std::string::npos);
    EXPECT_NE(why({.items = 1000, .rate = 0.0001, .message_bits_per_item = 4})
                  .find("message of 4 bits per item is too small"),
              std::string::npos);
    EXPECT_NE(why({.items = 1000, .delta_fraction = 2}).find("delta fraction"), std::string::npos);
    EXPECT_NE(why({.items = std::uint64_t{1} << 39, .rate = 1e-9}).find("2^40"), std::string::npos);
}

// Table VI as budgets: the delta of a standard filter of 8 bits and 5 hashes buys a far better one, in 32
// bits.
TEST(plan, a_delta_budget) {
    const auto p = choose(
        {.items = 10'000, .max_memory = 40'000, .delta_bits_per_item = 1.6713, .delta_fraction = 0.05});
    ASSERT_TRUE(p) << p.error().message;
    EXPECT_EQ(p->hashes, 2u);
    EXPECT_NEAR(p->bits_per_item(), 32, 0.01);
    EXPECT_NEAR(p->false_positive_rate, 0.00367, 0.00001);
    const auto both = *choose(
        {.items = 10'000, .message_bits_per_item = 8, .delta_bits_per_item = 1.4, .delta_fraction = 0.05});
    EXPECT_LE(both.message_bits_per_item(), 8);
    EXPECT_LE(both.per_item(*both.delta_bits), 1.4);
    EXPECT_FALSE(choose({.items = 10'000, .delta_bits_per_item = 1}));
}

TEST(plan, the_tradeoff_has_a_row_for_every_number_of_hashes) {
    const auto rows = *tradeoff({.items = 10'000, .message_bits_per_item = 8});
    ASSERT_GE(rows.size(), 6u);
    for (std::size_t i = 1; i < 5; ++i) {
        EXPECT_EQ(rows[i].hashes, rows[i - 1].hashes + 1);
        EXPECT_GT(rows[i].false_positive_rate, rows[i - 1].false_positive_rate);
        EXPECT_LT(rows[i].bits, rows[i - 1].bits);
    }
    EXPECT_NEAR(rows[1].false_positive_rate, 0.0170, 0.0001);  // 0.0177 where the paper stays at 7.923 bits
}

TEST(plan, advice_shows_the_alternatives) {
    const auto a = *advise({.items = 1'000'000, .rate = 0.01});
    const auto* compressed = &a.alternatives.front();
    for (const auto& each : a.alternatives) {
        if (each.name == "compressed, same rate") compressed = &each;
    }
    EXPECT_EQ(compressed->name, "compressed, same rate");
    EXPECT_LT(compressed->plan.message_bits, a.chosen.message_bits);
    EXPECT_LE(compressed->plan.false_positive_rate, 0.01);
}

}  // namespace
}  // namespace posy
