// What a session costs: bytes and round trips until the difference is known.
#include <cstdio>
#include <cstdlib>

#include "conversation.hpp"
#include "reconcile/coded_symbols.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

// Bytes, as symbols per element, and round trips until the difference is known; how many pairs of sets stay
// within 1.6 symbols and 3 round trips.
struct costs {
    costs(std::size_t common, std::size_t each, digest_width width, int pairs);

    sample bytes;
    int beyond = 0;
    std::map<std::uint64_t, int> round_trips{};
};

costs::costs(std::size_t common, std::size_t each, digest_width width, int pairs)
    : bytes(static_cast<unsigned>(pairs), "pairs of sets") {
    const double budget = 1.6 * 2 * static_cast<double>(each) * static_cast<double>(symbol_bytes(width));
    for (int seed = 0; seed < pairs; ++seed) {
        const auto sets = make_sets(common, each, each, width, static_cast<std::uint64_t>(seed) + 1);
        auto c = talk(sets, {});
        c.run();
        EXPECT_TRUE(c.good()) << c.errors();
        EXPECT_EQ(c.ask.found().only_here, sets.only_a);
        EXPECT_EQ(c.ask.found().only_there, sets.only_b);
        const traffic& t = c.ask.found().finding;
        EXPECT_EQ(t.sent, c.answer.found().finding.received);
        EXPECT_EQ(t.received, c.answer.found().finding.sent);
        const double spent = static_cast<double>(t.sent + t.received) / budget * 1.6;
        bytes.add(spent);
        ++round_trips[t.round_trips];
        beyond += spent > 1.6 || t.round_trips > 3;
    }
}

// 1,000 differences: 1.47 symbols per element on average, headers, sketch and questions included. Beyond 1.6,
// or beyond 3 round trips, 4 % of the pairs: of 60 more than 11 once in 10^5.
TEST(reconcile_session_costs, a_thousand_differences_take_the_bytes_of_theory) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        const costs c(10'000, 500, width, 60);
        EXPECT_LT(c.bytes.mean(), 1.53);
        EXPECT_GT(c.bytes.mean(), 1.40);
        EXPECT_LE(c.beyond, 11);
        EXPECT_LT(c.bytes.highest(), 2.0);
    }
}

// The size follows the difference and not the sets.
TEST(reconcile_session_costs, costs_do_not_grow_with_the_sets) {
    const costs small(10'000, 50, digest_width::half, 20), large(100'000, 50, digest_width::half, 3);
    EXPECT_LT(large.bytes.mean(), 1.5 * small.bytes.mean());
}

// Sets that have little or nothing in common cost no more than one of them.
TEST(reconcile_session_costs, never_sends_more_than_the_set) {
    const auto sets = make_sets(0, 5000, 5000);
    auto c = talk(sets, {});
    c.run();
    ASSERT_TRUE(c.good());
    EXPECT_LT(c.ask.found().finding.received, 8 * 5000u + 40);  // and a frame
    EXPECT_EQ(c.ask.found().finding.round_trips, 1u);
}

// Two sets of a million, 1,000 differences; a few minutes: POSY_LONG_TESTS=1 ctest -R reconcile/session_costs
TEST(reconcile_session_costs, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        const costs c(999'500, 500, width, 25);
        std::string trips;
        for (const auto& [number, pairs] : c.round_trips)
            trips += " " + std::to_string(number) + ":" + std::to_string(pairs);
        std::printf("symbols per element %.3f on average, %.3f at most; round trips%s\n", c.bytes.mean(),
                    c.bytes.highest(), trips.c_str());
        EXPECT_LT(c.bytes.mean(), 1.53);
        EXPECT_LE(c.beyond, 7);  // 4 % expected: more than 7 of 25 once in 10^5
    }
    for (const method how : {method::filter, method::tree}) {
        const auto sets = make_sets(999'500, 500, 500);
        auto c = talk(sets, {.method = how});
        c.run();
        ASSERT_TRUE(c.good());
        const auto& found = c.ask.found();
        std::printf("%s: %zu and %zu of 500, expected share %.4f, nodes %llu, elements %llu\n",
                    std::string(name_of(how)).c_str(), found.only_here.size(), found.only_there.size(),
                    found.here_expected, static_cast<unsigned long long>(found.nodes_visited),
                    static_cast<unsigned long long>(found.elements_visited));
        if (how == method::tree) {
            EXPECT_LT(found.nodes_visited + found.elements_visited, 50'000u);
        }
    }
}

}  // namespace
}  // namespace posy::reconcile
