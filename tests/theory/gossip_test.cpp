#include "posy/theory/gossip.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "statistics.hpp"

namespace posy::theory {
namespace {

// The same process drawn: contacts one after the other, each between random nodes at exponential intervals.
struct drawn {
    double rounds, mentions, missed;
};
drawn draw(const gossip_model& m, double share, std::mt19937_64& random) {
    const auto n = static_cast<std::size_t>(m.nodes);
    std::vector<int> knew(n, -1);  // -1: does not know; at `patience` it is silent
    const auto hot = [&](std::size_t i) { return knew[i] >= 0 && knew[i] < static_cast<int>(m.patience); };
    knew[0] = 0;
    double time = 0, reached = INFINITY, mentions = 0;
    std::size_t know = 1, spreading = 1;
    while (spreading > 0) {
        time += -std::log(1 - static_cast<double>(random() >> 11) * 0x1p-53) / m.nodes;
        const std::size_t a = random() % n;
        const std::size_t b = (a + 1 + random() % (n - 1)) % n;
        const bool first = hot(a), second = hot(b);
        mentions += first || second;
        if (first || second) {
            for (const std::size_t i : {a, b}) {
                if (knew[i] < 0)
                    knew[i] = 0, ++know, ++spreading;
                else if (hot(i) && (i == a ? knew[b] >= 0 && first : first && second)) {
                    // Whoever was told just now has told nobody.
                    spreading -= ++knew[i] == static_cast<int>(m.patience);
                }
            }
        }
        if (static_cast<double>(know) >= share * m.nodes) reached = std::min(reached, time);
    }
    return {reached, mentions / m.nodes, 1 - static_cast<double>(know) / m.nodes};
}

// Five standard errors, a false alarm in two million draws, and what a mean-field equation leaves out at this
// size.
TEST(gossip_theory, rounds_and_mentions_are_those_of_the_process) {
    std::mt19937_64 random(1);
    for (const double nodes : {100.0, 400.0}) {
        const gossip_model m{.nodes = nodes, .patience = 6, .compare_every = 0, .at_once = false};
        const gossip_course course = gossip_spread(m, 0.9);
        sample rounds(300), mentions(300);
        for (int i = 0; i < 300; ++i) {
            const drawn d = draw(m, 0.9, random);
            rounds.add(d.rounds);
            mentions.add(d.mentions);
        }
        rounds.expect_mean(course.rounds, 5, 0.03 * course.rounds);
        EXPECT_NEAR(rounds.deviation(), course.deviation, 0.25 * course.deviation);
        mentions.expect_mean(course.greetings + course.replies, 5,
                             0.06 * (course.greetings + course.replies));
    }
}

// How many of 4,000 draws are beyond each quantile: within five deviations (a false alarm in two million) and
// a fifth of it for what the equations leave out.
TEST(gossip_theory, the_slowest_changes_are_those_of_the_process) {
    std::mt19937_64 random(2);
    const gossip_model m{.nodes = 200, .patience = 5, .compare_every = 0, .at_once = false};
    constexpr int draws = 4000;
    std::vector<double> times;
    for (int i = 0; i < draws; ++i) times.push_back(draw(m, 0.97, random).rounds);
    at_least checked(3);
    for (const double odds : {0.1, 0.01, 0.001}) {
        const double bound = gossip_slowest(m, 0.97, 1, odds);
        const auto beyond = std::ranges::count_if(times, [&](double t) { return t > bound; });
        EXPECT_NEAR(static_cast<double>(beyond), odds * draws,
                    5 * std::sqrt(odds * draws) + 0.2 * odds * draws)
            << odds;
        ++checked;
    }
}

TEST(gossip_theory, the_slowest_of_many_is_slower) {
    const gossip_model m{.nodes = 500, .wasted = 0.1};
    const double one = gossip_slowest(m, 0.99, 1, 0.01), hundred = gossip_slowest(m, 0.99, 100, 0.01);
    EXPECT_GT(one, gossip_spread(m, 0.99).rounds);
    EXPECT_GT(hundred, one + 1);
    // 1 − (1 − odds)^(1/changes) is about odds/changes.
    EXPECT_NEAR(hundred, gossip_slowest(m, 0.99, 1, 0.0001), 0.02);
    EXPECT_EQ(gossip_slowest({.nodes = 500, .patience = 1, .compare_every = 0}, 0.99, 1, 0.01), INFINITY);
}

TEST(gossip_theory, more_patience_leaves_fewer_out_and_comparing_reaches_them) {
    double before = 1;
    for (unsigned patience = 1; patience <= 6; ++patience) {
        const gossip_model alone{.nodes = 500, .patience = patience, .compare_every = 0};
        const double residue = gossip_spread(alone, 0.99).residue;
        EXPECT_LT(residue, before / 2) << patience;
        before = residue;
    }
    EXPECT_EQ(gossip_spread({.nodes = 500, .patience = 1, .compare_every = 0}, 0.99).rounds, INFINITY);
    EXPECT_LT(gossip_spread({.nodes = 500, .patience = 1}, 0.99).rounds, 30);
}

TEST(gossip_theory, grows_with_the_logarithm_of_the_nodes_and_with_loss) {
    const auto rounds = [](double nodes, double loss) {
        return gossip_spread({.nodes = nodes, .loss = loss}, 0.99).rounds;
    };
    // Half of ln 10: the number that know grows by e² per round.
    EXPECT_NEAR(rounds(10'000, 0) - rounds(1'000, 0), std::log(10) / 2, 0.1);
    EXPECT_GT(rounds(500, 0.1), 1.2 * rounds(500, 0));
    EXPECT_GT(gossip_spread({.nodes = 500, .hop = 0.1}, 0.99).rounds, 1.2 * rounds(500, 0));
}

TEST(gossip_theory, bytes_add_up) {
    const gossip_model m{.nodes = 100};
    const auto course = gossip_spread(m, 0.99);
    gossip_load load{.rounds = 720, .greeting = 5, .reply = 6, .version = 11};
    EXPECT_NEAR(gossip_bytes_per_hour(m, course, load), 720 * 11 + 72 * 8, 1e-6);
    load.fetched = 1000;
    EXPECT_NEAR(gossip_bytes_per_hour(m, course, load), 720 * 11 + 72 * 8 + 1000, 1e-6);
    load.rumours = 10;
    EXPECT_GT(gossip_bytes_per_hour(m, course, load), 720 * 11 + 72 * 8 + 1000 + 10 * 11 * course.greetings);
}

}  // namespace
}  // namespace posy::theory
