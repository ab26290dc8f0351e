#include "posy/reconcile/plan.hpp"

#include <cmath>

#include "sets.hpp"

namespace posy::reconcile {
namespace {

struct measured {
    double bytes = 0, deviation = 0, found = 0;  // means; of the bytes of one pair
};
measured measure(std::size_t items, std::size_t difference, const settings& how, digest_width width,
                 int pairs) {
    measured m;
    double squares = 0;
    for (int seed = 0; seed < pairs; ++seed) {
        const auto sets = make_sets(items - difference / 2, difference / 2, difference - difference / 2,
                                    width, static_cast<std::uint64_t>(seed) + 1);
        auto ask = *session::ask(sets.a, how);
        auto answer = session::answer(sets.b, how);
        while (!ask.done() || !answer.done()) {
            while (auto message = ask.send()) EXPECT_TRUE(answer.receive(*message));
            while (auto message = answer.send()) EXPECT_TRUE(ask.receive(*message));
        }
        const traffic& t = ask.found().finding;
        const auto bytes = static_cast<double>(t.sent + t.received);
        m.bytes += bytes / pairs;
        squares += bytes * bytes / pairs;
        m.found += static_cast<double>(ask.found().only_here.size() + ask.found().only_there.size()) /
                   static_cast<double>(difference) / pairs;
    }
    m.deviation = std::sqrt(std::max(0.0, squares - m.bytes * m.bytes));
    return m;
}

// The mean of 40 pairs within 4 of its standard errors (once in 10^4) and 3 %. The expectation was low on all
// of these: by 1 to 2 % at 1 and 1,000 differences, by 1 to 4 % at 10, by 4 to 5 % at 100. It leaves out
// fourth answers, and takes the number of symbols needed as normal.
TEST(reconcile_plan, coded_symbols_take_the_bytes_that_were_expected) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const std::size_t difference : {1, 10, 100, 1000}) {
            constexpr int pairs = 40;
            const auto expected = *expect(5000, difference, {}, width);
            const measured m = measure(5000, difference, {}, width, pairs);
            EXPECT_NEAR(m.bytes, expected.bytes, 0.03 * m.bytes + 4 * m.deviation / std::sqrt(pairs))
                << difference;
            EXPECT_NEAR(m.found, 1, 1e-9);
            EXPECT_EQ(expected.found, 1);
        }
    }
}

// Found: of 5 pairs with 1,000 differences, a binomial for a filter: 4.5 deviations, a false alarm in 10^5. A
// tree gets three times that, since one mistake near its root loses many at once; no odds are claimed for it.
TEST(reconcile_plan, filters_and_trees_find_the_share_that_was_expected) {
    for (const method how : {method::filter, method::tree}) {
        for (const double bits : {4.0, 10.0, 20.0}) {
            const settings s{.method = how, .bits_per_item = bits};
            const auto expected = *expect(10'000, 1000, s);
            const measured m = measure(10'000, 1000, s, digest_width::half, 5);
            EXPECT_NEAR(m.bytes, expected.bytes, 0.01 * m.bytes) << name_of(how) << bits;
            const double deviation = std::sqrt(expected.found * (1 - expected.found) / 5000);
            EXPECT_NEAR(m.found, expected.found, 4.5 * (how == method::tree ? 3 : 1) * deviation)
                << name_of(how) << bits;
        }
    }
}

TEST(reconcile_plan, small_sets_and_refusals) {
    // Nothing in common: the set itself, and the sketch.
    EXPECT_LT(expect(1000, 2000, {})->bytes, 1000 * 8 + 200);
    EXPECT_FALSE(expect(1000, 2001, {}));
    EXPECT_FALSE(expect(1000, 10, {.method = method::tree, .bits_per_item = 0}));
    EXPECT_FALSE(expect(1000, 10, {.method = method::filter, .bits_per_item = std::nan("")}));
    EXPECT_TRUE(expect(0, 0, {.method = method::tree}));
}

}  // namespace
}  // namespace posy::reconcile
