#include <cmath>

#include "reconcile/coded_symbols.hpp"
#include "reconcile/theory.hpp"
#include "sets.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

// Runs of `step` symbols until the difference is known.
symbol_decoder decode(const set_pair& sets, std::size_t step) {
    symbol_encoder encoder(sets.a);
    symbol_decoder decoder(sets.b);
    while (!decoder.complete() && encoder.position() < 100'000) {
        const auto received = decoder.receive(encoder.next(step));
        EXPECT_TRUE(received) << received.error().text();
        if (!received) break;
    }
    return decoder;
}

void expect_exact(const set_pair& sets, std::size_t step, const std::string& what) {
    const auto decoder = decode(sets, step);
    EXPECT_TRUE(decoder.complete()) << what;
    EXPECT_EQ(sorted(decoder.only_there()), sets.only_a) << what;
    EXPECT_EQ(sorted(decoder.only_here()), sets.only_b) << what;
}

TEST(reconcile_symbol_decoder, finds_every_difference_exactly) {
    const struct {
        std::size_t common, a, b;
    } shapes[] = {{0, 0, 0},    {0, 1, 0},      {0, 0, 1},    {1, 0, 0},      {1, 1, 1},
                  {0, 500, 0},  {0, 0, 77},     {0, 60, 200}, {5000, 0, 0},   {5000, 1, 0},
                  {5000, 0, 3}, {5000, 20, 20}, {300, 2, 0},  {5000, 0, 900}, {20'000, 700, 300}};
    std::uint64_t seed = 0;
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const auto& [common, a, b] : shapes) {
            for (const std::size_t step : {1u, 13u, 400u}) {
                if (step == 1 && common > 1000) continue;
                expect_exact(make_sets(common, a, b, width, ++seed), step,
                             std::to_string(common) + "+" + std::to_string(a) + "+" + std::to_string(b));
            }
        }
    }
}

TEST(reconcile_symbol_decoder, takes_digests_that_are_not_random) {
    std::vector<digest> a, b;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        a.push_back({i, 0});
        b.push_back({i + 150, 0});
    }
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        set_pair sets{digest_set(hasher(), width, a), digest_set(hasher(), width, b), {}, {}};
        sets.only_a = without(sets.a.elements(), sets.b.elements());
        sets.only_b = without(sets.b.elements(), sets.a.elements());
        ASSERT_EQ(sets.only_a.size(), 150u);
        expect_exact(sets, 25, "counters");
    }
}

// Symbols needed, one by one: the mean over `trials` differences, against theory to 4.5 standard errors and
// the 4 % (1 % from 100 on) by which its fit may be off.
TEST(reconcile_symbol_decoder, needs_as_many_symbols_as_theory_says) {
    for (const auto& [d, trials] : {std::pair<std::size_t, int>{1, 3}, {10, 400}, {100, 200}, {1000, 60}}) {
        sample needed(static_cast<unsigned>(trials), "difference " + std::to_string(d));
        for (int t = 0; t < trials; ++t) {
            const auto sets =
                make_sets(0, d - d / 3, d / 3, digest_width::half, 1000 * d + static_cast<std::size_t>(t));
            needed.add(static_cast<double>(decode(sets, 1).position()));
        }
        const double expected = theory::symbols_needed(static_cast<double>(d));
        needed.expect_mean(expected, 4.5, (d < 100 ? 0.04 : 0.01) * expected);
        // Few trials tell a deviation to a few percent, and the theory's is a round figure.
        EXPECT_NEAR(needed.deviation(), theory::symbols_deviation(static_cast<double>(d)),
                    0.6 * std::sqrt(static_cast<double>(d)))
            << d;
    }
}

// 400 differences each: how often the interval misses is binomial(400, 0.05), 20 ± 4.4; beyond 42 once in
// 10^5. The mean is within 4.5 standard errors.
TEST(reconcile_symbol_decoder, estimates_the_difference_on_the_way) {
    for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{500, 500}, {900, 100}, {30, 70}}) {
        const auto d = static_cast<double>(a + b);
        const std::size_t symbols = a + b;
        int missed = 0;
        constexpr int trials = 400;
        sample values(trials);
        for (std::uint64_t t = 0; t < trials; ++t) {
            const auto sets = make_sets(200, a, b, digest_width::half, 77 * t + a);
            symbol_decoder decoder(sets.b);
            ASSERT_TRUE(decoder.receive(symbol_encoder(sets.a).next(symbols)));
            const estimate e = decoder.estimate_difference();
            values.add(e.value);
            missed += e.low > d || e.high < d;
        }
        // Beside χ², the counts of the last symbols are a little lumpy: a few in a Poisson of 2.
        const double relative = std::sqrt(2.5 / static_cast<double>(symbols));
        EXPECT_NEAR(values.mean(), d, 4.5 * d * relative / std::sqrt(trials)) << a << " and " << b;
        EXPECT_LE(missed, 42) << a << " and " << b;
    }
}

TEST(reconcile_symbol_decoder, refuses_what_does_not_belong) {
    const auto sets = make_sets(100, 5, 5);
    symbol_encoder encoder(sets.a);
    symbol_decoder decoder(sets.b);
    const auto first = encoder.next(4), second = encoder.next(4);
    EXPECT_NE(decoder.receive(second).error().message.find("where 0 is the next"), std::string::npos);
    ASSERT_TRUE(decoder.receive(first));
    EXPECT_FALSE(decoder.receive(first));
    ASSERT_TRUE(decoder.receive(second));
    auto third = encoder.next(4);
    third.hash = hasher(hash_family::xxh3, {1, 0});
    EXPECT_NE(decoder.receive(third).error().message.find("same hash and seed"), std::string::npos);
    third.hash = hasher();
    third.width = digest_width::full;
    EXPECT_NE(decoder.receive(third).error().message.find("same width"), std::string::npos);
}

// A symbol that claims, with a fitting checksum, that this side lacks what it has, or has what it lacks.
TEST(reconcile_symbol_decoder, notices_symbols_that_contradict_its_own_set) {
    const auto sets = make_sets(50, 1, 1);
    const digest known = sets.b.elements()[0], unknown{12345, 0};
    for (const bool lacks : {true, false}) {
        const digest_set forged(hasher(), digest_width::half, {lacks ? known : unknown});
        symbol_decoder decoder(sets.b);
        auto run = symbol_encoder(sets.b).next(8);
        const auto extra = symbol_encoder(forged).next(8);
        for (std::size_t i = 0; i < 8; ++i) {
            coded_symbol& s = run.symbols[i];
            s.sum.low ^= extra.symbols[i].sum.low;
            s.check ^= extra.symbols[i].check;
            s.count = static_cast<std::uint8_t>(lacks ? s.count + extra.symbols[i].count
                                                      : s.count - extra.symbols[i].count);
        }
        const auto received = decoder.receive(run);
        ASSERT_FALSE(received);
        EXPECT_NE(received.error().message.find("contradict this side's own set"), std::string::npos);
    }
}

// Symbols of which any part was changed never lead to a wrong difference: they are refused, or never
// explained.
TEST(reconcile_symbol_decoder, damaged_symbols_never_give_a_wrong_difference) {
    const auto sets = make_sets(300, 6, 6);
    std::mt19937_64 random(9);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        auto bytes = payload_of(symbol_encoder(sets.a).next(40));
        for (auto flips = 1 + random() % 3; flips > 0; --flips)
            bytes[5 + random() % (bytes.size() - 5)] ^= static_cast<std::byte>(1 << random() % 8);
        const auto run = symbol_run::parse(hasher(), bytes);
        ASSERT_TRUE(run);
        symbol_decoder decoder(sets.b);
        if (!decoder.receive(*run)) {
            ++refused;
        } else if (decoder.complete()) {
            EXPECT_EQ(sorted(decoder.only_there()), sets.only_a);
            EXPECT_EQ(sorted(decoder.only_here()), sets.only_b);
        }
    }
    EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace posy::reconcile
