#include "posy/reconcile/session.hpp"

#include "conversation.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

void expect_exact(const set_pair& sets, const std::string& what) {
    auto c = talk(sets, {});
    c.run();
    ASSERT_TRUE(c.good()) << what << ": " << c.errors();
    EXPECT_EQ(c.ask.found().only_here, sets.only_a) << what;
    EXPECT_EQ(c.ask.found().only_there, sets.only_b) << what;
    EXPECT_EQ(c.ask.found().items_there, sets.b.size()) << what;
    EXPECT_EQ(c.answer.found().only_there, sets.only_a) << what;
    EXPECT_EQ(c.answer.found().items_there, sets.a.size()) << what;
}

struct shape {
    std::size_t common, a, b;
};
constexpr shape shapes[] = {{0, 0, 0},        {0, 1, 0},        {0, 0, 1},        {1, 0, 0},
                            {1, 1, 1},        {0, 300, 0},      {0, 0, 300},      {0, 200, 200},
                            {2000, 0, 0},     {2000, 1, 0},     {2000, 0, 1},     {2000, 30, 50},
                            {2000, 0, 700},   {2000, 700, 0},   {10, 3000, 3000}, {1000, 150, 150},
                            {1000, 280, 280}, {1000, 330, 330}, {700, 50, 400}};

TEST(reconcile_session, the_exact_way_is_exact) {
    std::uint64_t seed = 0;
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const auto& [common, a, b] : shapes) {
            for (int round = 0; round < 10; ++round)
                expect_exact(make_sets(common, a, b, width, ++seed),
                             std::to_string(common) + "+" + std::to_string(a) + "+" + std::to_string(b));
        }
    }
}

TEST(reconcile_session, the_approximate_ways_find_nothing_that_is_not_so) {
    std::uint64_t seed = 0;
    for (const method how : {method::filter, method::tree}) {
        for (const digest_width width : {digest_width::half, digest_width::full}) {
            for (const auto& [common, a, b] : shapes) {
                const auto sets = make_sets(common, a, b, width, ++seed);
                auto c = talk(sets, {.method = how});
                c.run();
                ASSERT_TRUE(c.good()) << c.errors();
                const auto& found = c.ask.found();
                EXPECT_TRUE(std::ranges::includes(sets.only_a, found.only_here, ascending{}));
                EXPECT_TRUE(std::ranges::includes(sets.only_b, found.only_there, ascending{}));
                EXPECT_EQ(found.items_there, sets.b.size());
                EXPECT_EQ(c.answer.found().only_here, found.only_there);
                EXPECT_EQ(c.answer.found().only_there, found.only_here);
                EXPECT_EQ(found.finding.round_trips, 1u);
                // Very nearly: each side predicts the peer's search from what it knows of the peer.
                EXPECT_NEAR(c.answer.found().here_expected, found.there_expected, 1e-9);
            }
        }
    }
}

// Shares found by filter and by tree, both ways, in 40 pairs of sets: within 5.5 standard errors, from the
// spread between the pairs (Student's t: a false alarm in 10^5 or so).
TEST(reconcile_session, the_approximate_ways_find_the_share_they_predict) {
    for (const method how : {method::filter, method::tree}) {
        for (const double bits : {5.0, 10.0}) {
            constexpr int pairs = 40;
            constexpr double each = 300;
            sample shares(pairs, std::string(name_of(how)) + " " + std::to_string(bits));
            double expected = 0;
            for (std::uint64_t seed = 0; seed < pairs; ++seed) {
                const auto sets = make_sets(6000, 300, 300, digest_width::half, seed);
                auto c = talk(sets, {.method = how, .bits_per_item = bits});
                c.run();
                const auto& found = c.ask.found();
                shares.add(static_cast<double>(found.only_here.size() + found.only_there.size()) /
                           (2 * each));
                expected = (found.here_expected + found.there_expected) / 2;
            }
            shares.expect_mean(expected, 5.5);
            EXPECT_LT(shares.standard_error(), 0.02);
        }
    }
}

// Where symbols and the list cost about the same, a part of the list comes first, then the rest of it or
// symbols. All three outcomes occur here, and each element is sent once.
TEST(reconcile_session, a_part_of_the_list_settles_what_it_covers) {
    bool whole = false, part = false, none = false;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const std::size_t each = 60 + 20 * seed;
        const auto sets = make_sets(2000 - each, each, each, digest_width::half, seed);
        auto c = talk(sets, {});
        c.run();
        ASSERT_TRUE(c.good()) << c.errors();
        const outcome& found = c.ask.found();
        EXPECT_EQ(found.only_here, sets.only_a);
        EXPECT_EQ(found.only_there, sets.only_b);
        EXPECT_EQ(found.listed, c.answer.found().listed);
        EXPECT_EQ(found.symbols, c.answer.found().symbols);
        EXPECT_LE(found.listed, 2000u);
        (found.listed == 0 ? none : found.listed == 2000 ? whole : part) = true;
    }
    EXPECT_TRUE(whole && part && none);
}

}  // namespace
}  // namespace posy::reconcile
