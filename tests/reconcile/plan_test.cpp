#include "posy/reconcile/plan.hpp"

#include <cmath>
#include <cstdlib>

#include "reconcile/wire.hpp"
#include "sets.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

// What pairs of sets cost, and what was found.
struct measured {
    measured(const set_sizes& sizes, const settings& how, digest_width width, int pairs);
    sample bytes, found, round_trips, listed;
};

measured::measured(const set_sizes& sizes, const settings& how, digest_width width, int pairs)
    : bytes(static_cast<unsigned>(pairs)),
      found(static_cast<unsigned>(pairs)),
      round_trips(static_cast<unsigned>(pairs)),
      listed(static_cast<unsigned>(pairs)) {
    for (int seed = 0; seed < pairs; ++seed) {
        const auto sets = make_sets(sizes.common, sizes.only_here, sizes.only_there, width,
                                    static_cast<std::uint64_t>(seed) + 1'000'000);
        auto ask = *session::ask(sets.a, how);
        auto answer = session::answer(sets.b, how);
        while (!ask.done() || !answer.done()) {
            while (auto message = ask.send()) EXPECT_TRUE(answer.receive(*message));
            while (auto message = answer.send()) EXPECT_TRUE(ask.receive(*message));
        }
        const outcome& o = ask.found();
        const auto d = static_cast<double>(sizes.difference());
        bytes.add(static_cast<double>(o.finding.sent + o.finding.received));
        found.add(d > 0 ? static_cast<double>(o.only_here.size() + o.only_there.size()) / d : 1);
        round_trips.add(static_cast<double>(o.finding.round_trips));
        listed.add(how.method == method::exact && o.listed == sets.b.size());
    }
}

// The mean is what was expected, to 1 % or 4.5 standard errors: of few pairs, 1 in 10^4 or so would fail by
// chance for each figure. The standard error is the plan's where few pairs happen to be all alike; a share
// found that never varied may still be 1 − 10 / (pairs · d).
void expect_truth(const set_sizes& sizes, const settings& how, digest_width width, int pairs) {
    const auto plan = expect(sizes, how, width);
    ASSERT_TRUE(plan) << plan.error().text();
    const measured m(sizes, how, width, pairs);
    const std::string what = std::string(name_of(how.method)) + ", " + std::to_string(sizes.here()) +
                             " and " + std::to_string(sizes.there()) + " items, difference " +
                             std::to_string(sizes.difference());
    const double runs = std::sqrt(static_cast<double>(pairs));
    const double error = std::max(m.bytes.deviation(), plan->deviation) / runs;
    EXPECT_NEAR(m.bytes.mean(), plan->bytes, std::max(0.01 * plan->bytes, 4.5 * error)) << what;
    EXPECT_LE(m.bytes.highest(), plan->most) << what;
    const double miss = std::max(m.found.deviation(), plan->found_deviation) / runs;
    EXPECT_NEAR(m.found.mean(), plan->found, std::max(0.01 * plan->found, 4.5 * miss)) << what;
    if (how.method == method::exact) {
        EXPECT_EQ(m.found.lowest(), 1) << what;
    }
    const double trip = std::max(m.round_trips.deviation(), std::sqrt(plan->round_trips - 1)) / runs;
    EXPECT_NEAR(m.round_trips.mean(), plan->round_trips, 0.03 + 4.5 * trip) << what;
    EXPECT_NEAR(m.listed.mean(), plan->listed, 0.05 + 4.5 * 0.5 / runs) << what;
}

// Differences from none to all items of both sets.
std::vector<set_sizes> shapes_of(std::uint64_t here, std::uint64_t there) {
    std::vector<set_sizes> shapes;
    const auto n = static_cast<double>(std::max(here, there));
    std::vector<double> differences{0, 1, 3, 10};
    for (const double share :
         {0.01, 0.03, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0})
        differences.push_back(std::round(share * n));
    for (const double d : differences) {
        if (const auto sizes = set_sizes::of(here, there, static_cast<std::uint64_t>(d))) {
            const bool again = std::ranges::any_of(
                shapes, [&](const set_sizes& s) { return s.difference() == sizes->difference(); });
            if (!again) shapes.push_back(*sizes);
        }
    }
    EXPECT_FALSE(shapes.empty()) << here << " and " << there;
    return shapes;
}

// Where symbols and the list cost about the same, what is sent is close to the cheaper of the two.
TEST(reconcile_plan, the_exact_way_chooses_early) {
    for (const double share : {0.35, 0.45, 0.5, 0.6, 0.7, 0.8}) {
        const auto sizes = *set_sizes::of(3000, 3000, static_cast<std::uint64_t>(share * 3000));
        expect_truth(sizes, {}, digest_width::half, 20);
        const measured m(sizes, {}, digest_width::half, 20);
        const double symbols = 1.4 * 13 * static_cast<double>(sizes.difference());
        const double list = 8.0 * 3000;
        EXPECT_LT(m.bytes.mean(), 1.1 * std::min(symbols, list) + 300) << share;
        EXPECT_LT(m.bytes.highest(), 1.4 * std::min(symbols, list)) << share;
    }
}

// Sets of 1 to 600 items, three ways, two widths; the long form has all shapes.
TEST(reconcile_plan, small_sets_take_what_was_expected) {
    for (const std::uint64_t n : {1, 2, 10, 40, 120}) {
        const auto shapes = shapes_of(n, n);
        EXPECT_LT(n % 3, shapes.size());
        for (std::size_t i = n % 3; i < shapes.size(); i += 3)
            expect_truth(shapes[i], {}, i % 2 ? digest_width::half : digest_width::full, 100);
        for (const std::uint64_t d : {std::uint64_t{0}, n / 3, 2 * n}) {
            for (const method how : {method::filter, method::tree})
                expect_truth(*set_sizes::of(n, n, d), {.method = how}, digest_width::half, 20);
        }
    }
    const auto shapes = shapes_of(600, 600);
    for (std::size_t i = 0; i < shapes.size(); i += 2) expect_truth(shapes[i], {}, digest_width::half, 20);
    expect_truth(*set_sizes::of(0, 0, 0), {}, digest_width::half, 1);
    expect_truth(*set_sizes::of(0, 50, 50), {}, digest_width::half, 3);
    expect_truth(*set_sizes::of(50, 0, 50), {.method = method::tree}, digest_width::half, 3);
}

// Sets of different sizes.
TEST(reconcile_plan, one_set_may_be_much_larger) {
    for (const auto& [here, there] :
         {std::pair<std::uint64_t, std::uint64_t>{30, 2000}, {2000, 30}, {1000, 1300}}) {
        for (const set_sizes& sizes : shapes_of(here, there)) {
            expect_truth(sizes, {}, digest_width::half, 12);
            if (sizes.difference() % 2 == 0)
                expect_truth(sizes, {.method = method::tree}, digest_width::half, 6);
        }
        const auto sizes = shapes_of(here, there).back();
        expect_truth(sizes, {.method = method::filter}, digest_width::half, 6);
    }
}

TEST(reconcile_plan, filters_and_trees_find_the_share_that_was_expected) {
    for (const method how : {method::filter, method::tree}) {
        for (const double bits : {4.0, 10.0, 20.0})
            expect_truth(*set_sizes::of(10'000, 10'000, 1000), {.method = how, .bits_per_item = bits},
                         digest_width::half, 6);
    }
}

// Sets that are too large to build and measure: twice the items take twice the bytes.
TEST(reconcile_plan, large_sets_are_multiples_of_smaller_ones) {
    for (const method how : {method::filter, method::tree}) {
        const auto half = *expect({100'000, 0, 0}, {.method = how});
        const auto whole = *expect({200'000, 0, 0}, {.method = how});
        EXPECT_NEAR(whole.bytes, 2 * half.bytes, 0.002 * whole.bytes);
    }
    const auto huge = *expect({1'000'000'000, 500, 500}, {});
    EXPECT_LT(huge.bytes, 20'000);
    EXPECT_GT(huge.bytes, 1000 * 1.35 * 13);
}

// The length of a message without making it.
TEST(reconcile_wire, is_what_sessions_send) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const hasher& hash : {hasher(), hasher(hash_family::siphash, {300, ~std::uint64_t{0}})}) {
            const wire bytes(width, hash);
            for (const std::size_t n : {0u, 1u, 100u, 127u, 128u, 20'000u}) {
                const auto sets = make_sets(n, 0, 0, width, 1, hash);
                const auto size = [&](kind what, byte_view payload) {
                    return static_cast<double>(to_bytes(envelope(what, hash, payload)).size());
                };
                const auto items = static_cast<double>(n);
                EXPECT_EQ(bytes.list(items), size(kind::offer, payload_of(sets.a)));
                EXPECT_EQ(bytes.symbols(items, 0, 200),
                          size(kind::symbols, payload_of(symbol_encoder(sets.a).next(200))));
                // 64 sums with one or two bytes each: 4.5 deviations of at most 4.
                const auto sketch = size(kind::sketch, payload_of(difference_sketch::of(sets.a)));
                EXPECT_NEAR(sketch, bytes.sketch(items), n < 129 ? 1e-6 : 18);
                EXPECT_LE(sketch, bytes.longest_sketch(items));
            }
            EXPECT_EQ(bytes.more(300),
                      static_cast<double>(to_bytes(envelope(kind::more, hash, unhex("ac02"))).size()));
        }
    }
}

TEST(reconcile_plan, seeds_travel_in_every_message) {
    const auto plain = *expect({5000, 0, 0}, {});
    const auto seeded = *expect({5000, 0, 0}, {}, digest_width::half,
                                hasher(hash_family::siphash, {~std::uint64_t{0}, ~std::uint64_t{0}}));
    EXPECT_NEAR(seeded.bytes - plain.bytes, 2 * 18,
                1e-6);  // two seeds of ten bytes each where zeros took one
}

TEST(reconcile_plan, impossible_sizes_and_wishes_are_refused) {
    EXPECT_FALSE(set_sizes::of(1000, 1000, 2001));
    EXPECT_FALSE(set_sizes::of(1000, 900, 99));
    EXPECT_FALSE(set_sizes::of(1000, 900, 1901));
    const auto odd = *set_sizes::of(10, 10, 3);
    EXPECT_EQ(odd.here(), 10u);
    EXPECT_EQ(odd.there(), 11u);
    const auto less = *set_sizes::of(10, 4, 8);
    EXPECT_EQ(less.only_here, 7u);
    EXPECT_EQ(less.only_there, 1u);
    EXPECT_FALSE(expect({1000, 5, 5}, {.method = method::tree, .bits_per_item = 0}));
    EXPECT_FALSE(expect({1000, 5, 5}, {.method = method::filter, .bits_per_item = std::nan("")}));
    EXPECT_TRUE(expect({0, 0, 0}, {.method = method::tree}));
}

// Every d/n, sets of 1 to 100,000 items, three ways; some minutes: POSY_LONG_TESTS=1 ctest -R reconcile/plan
TEST(reconcile_plan, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    for (const std::uint64_t n : {1, 2, 3, 5, 8, 20, 60, 128, 129, 250, 500, 1000, 3000, 10'000, 100'000}) {
        const int pairs = static_cast<int>(std::clamp<std::uint64_t>(200'000 / n, 12, 1000));
        for (const set_sizes& sizes : shapes_of(n, n)) {
            for (const method how : {method::exact, method::filter, method::tree})
                expect_truth(sizes, {.method = how}, digest_width::half,
                             how == method::exact ? pairs : std::min(pairs, 100));
        }
    }
    for (const auto& [here, there] : {std::pair<std::uint64_t, std::uint64_t>{1, 1000},
                                      {1000, 1},
                                      {900, 1200},
                                      {1200, 900},
                                      {500, 20'000},
                                      {20'000, 500},
                                      {20'000, 26'000}}) {
        for (const set_sizes& sizes : shapes_of(here, there)) {
            for (const method how : {method::exact, method::filter, method::tree})
                expect_truth(sizes, {.method = how}, digest_width::half, 40);
        }
    }
}

}  // namespace
}  // namespace posy::reconcile
