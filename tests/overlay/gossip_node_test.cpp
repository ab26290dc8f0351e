#include "posy/overlay/gossip_node.hpp"

#include "gossip_world.hpp"
#include "posy/theory/gossip.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

std::string key(std::uint64_t i) { return "key " + std::to_string(i); }

void fill(gossip_world& w, node_id nodes, std::uint64_t keys_each) {
    for (node_id who = 1; who <= nodes; ++who) {
        w.join(who);
        for (std::uint64_t i = 0; i < keys_each; ++i) w.insert(who, key(who * 1000 + i));
    }
}

TEST(gossip_node, two_nodes_know_each_other) {
    gossip_world w;
    fill(w, 2, 3);
    EXPECT_LE(w.rounds_until_agreed(), 20);
    EXPECT_EQ(w.net.find(1)->who(key(2001)), std::vector<node_id>{2});
    EXPECT_TRUE(w.net.find(1)->who(key(1001)).empty()) << "its own keys are no news to a node";
}

TEST(gossip_node, nobody_to_talk_to_is_no_trouble) {
    gossip_world w;
    fill(w, 1, 1);
    w.run(100);
    EXPECT_TRUE(w.all_agree());
    EXPECT_EQ(w.net.sent().messages, 0u);
}

TEST(gossip_node, every_key_is_found_and_removed_keys_are_not) {
    gossip_world w;
    fill(w, 30, 20);
    EXPECT_LE(w.rounds_until_agreed(), 60);
    for (node_id who = 1; who <= 30; ++who) w.remove(who, key(who * 1000));
    for (node_id who = 1; who <= 30; ++who) w.insert(who, key(who * 1000 + 500));
    w.run(1);
    EXPECT_LE(w.rounds_until_agreed(), 60);
    at_least found(30 * 29 * 20);
    for (const auto& [asker, mine] : w.truth) {
        for (const auto& [holder, keys] : w.truth) {
            if (asker == holder) continue;
            for (const std::string& k : keys) {
                const auto who = w.net.find(asker)->who(k);
                EXPECT_TRUE(std::ranges::binary_search(who, holder));
                ++found;
            }
        }
    }
    EXPECT_EQ(w.counts().suspicions, 0u);
    EXPECT_EQ(w.counts().bad_messages, 0u);
}

TEST(gossip_node, a_change_travels_as_a_delta_to_each_node_once) {
    gossip_world w;
    fill(w, 20, 100);
    ASSERT_LE(w.rounds_until_agreed(), 100);
    w.run(50);
    const auto before = w.net.sent();
    w.insert(7, "one more");
    w.run(40);
    EXPECT_TRUE(w.all_agree());
    constexpr std::size_t records = 0x23;
    const auto sent = w.net.sent().messages_of_kind[records] - before.messages_of_kind[records];
    const auto bytes = w.net.sent().bytes_of_kind[records] - before.bytes_of_kind[records];
    EXPECT_EQ(sent, 19u);
    EXPECT_LT(bytes / sent, 110u) << "a whole filter has some 500 bytes";
}

TEST(gossip_node, loss_delays_and_no_more) {
    // Of the tries of a greeting, (1 − 0.8²)^8 all fail: so few that hardly anybody is suspected.
    auto how = quick_settings();
    how.tries = 8;
    gossip_world w({.loss = 0.2}, 1, how);
    fill(w, 25, 5);
    EXPECT_LE(w.rounds_until_agreed(), 150);
    w.insert(3, "late");
    w.run(1);
    EXPECT_LE(w.rounds_until_agreed(), 150);
}

TEST(gossip_node, whoever_leaves_is_left_out_at_once_and_whoever_crashes_after_a_while) {
    gossip_world w;
    fill(w, 20, 3);
    ASSERT_LE(w.rounds_until_agreed(), 60);
    w.leave(4);
    EXPECT_LE(w.rounds_until_agreed(), 15);
    w.crash(5);
    const double patience = w.how.suspicion * std::log(20 + 2);
    EXPECT_GE(w.rounds_until_agreed(), patience - 1);
    EXPECT_TRUE(w.all_agree());
    for (const auto& [who, keys] : w.truth) EXPECT_TRUE(w.net.find(who)->who(key(5001)).empty());
}

TEST(gossip_node, a_restarted_node_replaces_its_earlier_life) {
    gossip_world w;
    fill(w, 10, 5);
    ASSERT_LE(w.rounds_until_agreed(), 60);
    for (int i = 0; i < 5; ++i) {
        w.insert(3, "old life " + std::to_string(i));
        w.run(10);
    }
    // The same number, incarnation and first generation as before: the others know later ones.
    w.truth[3].clear();
    w.join(3);
    w.insert(3, "new life");
    w.run(2);
    EXPECT_LE(w.rounds_until_agreed(), 100);
    EXPECT_EQ(w.net.find(1)->who("new life"), std::vector<node_id>{3});
    EXPECT_TRUE(w.net.find(1)->who(key(3001)).empty());
}

TEST(gossip_node, a_divided_network_splits_and_agrees_again) {
    bool divided = false;
    gossip_world w({.open = [&](node_id a, node_id b, std::uint64_t) { return !divided || a % 2 == b % 2; }});
    fill(w, 24, 4);
    ASSERT_LE(w.rounds_until_agreed(), 60);
    divided = true;
    w.run(60);
    for (const auto& [who, keys] : w.truth) EXPECT_EQ(w.net.find(who)->directory().live().size(), 12u);
    w.insert(1, "while apart");
    w.insert(2, "on the other side");
    w.crash(5);
    w.run(60);
    divided = false;
    EXPECT_LE(w.rounds_until_agreed(), 200);
    EXPECT_EQ(w.net.find(2)->who("while apart"), std::vector<node_id>{1});
    EXPECT_EQ(w.net.find(1)->who("on the other side"), std::vector<node_id>{2});
    EXPECT_GT(w.counts().objections, 0u);
}

// Joins, leaves, crashes, changes and loss in random order; when they end, everybody agrees with the oracle.
TEST(gossip_node, agrees_with_an_oracle_after_any_churn) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        gossip_world w({.loss = 0.05 * static_cast<double>(seed % 2)}, seed);
        fill(w, 15, 4);
        node_id last = 15;
        for (int step = 0; step < 150; ++step) {
            const auto victim =
                std::next(w.truth.begin(), static_cast<std::ptrdiff_t>(w.random() % w.truth.size()));
            const node_id who = victim->first;
            switch (w.random() % 8) {
                case 0:
                    w.join(++last);
                    break;
                case 1:
                    if (w.truth.size() > 8) w.crash(who);
                    break;
                case 2:
                    if (w.truth.size() > 8) w.leave(who);
                    break;
                case 3:
                    if (!victim->second.empty()) w.remove(who, std::string(*victim->second.begin()));
                    break;
                default:
                    w.insert(who, key(w.random()));
            }
            w.run(static_cast<double>(w.random() % 3));
        }
        w.run(1);
        EXPECT_LE(w.rounds_until_agreed(400), 400) << seed;
        EXPECT_EQ(w.counts().bad_messages, 0u);
    }
}

TEST(gossip_node, members_that_are_gone_are_forgotten) {
    auto how = quick_settings();
    how.forget_after = 100 * how.round;
    gossip_world w({}, 1, how);
    fill(w, 10, 2);
    ASSERT_LE(w.rounds_until_agreed(), 60);
    w.crash(9);
    w.leave(10);
    w.run(160);
    for (const auto& [who, keys] : w.truth) EXPECT_EQ(w.net.find(who)->directory().members().size(), 8u);
    EXPECT_TRUE(w.all_agree());
}

// 60 changes in a mesh of 40, one after the other: their mean against theory, within five standard errors
// (odds of a false alarm below 10^-6) and 5 % for what the equations leave out.
TEST(gossip_node, a_change_reaches_everybody_in_the_predicted_rounds) {
    gossip_world w;
    fill(w, 40, 2);
    ASSERT_LE(w.rounds_until_agreed(), 100);
    w.run(30);
    sample rounds(60, "rounds until 95 % know a change");
    const auto course =
        theory::gossip_spread({.nodes = 40, .hop = 50.0 / static_cast<double>(w.how.round)}, 0.95);
    for (std::uint64_t i = 0; i < 60; ++i) {
        const node_id origin = 1 + w.random() % 40;
        const auto generation = w.net.find(origin)->own_summary().generation();
        w.insert(origin, key(90'000 + i));
        while (w.net.find(origin)->own_summary().generation() == generation) w.run(0.01);
        const std::uint64_t began = w.net.now();
        std::size_t know = 0;
        while (know < 38) {
            w.run(0.01);
            know = 0;
            w.net.each([&](node_id, const gossip_node& n) {
                know += n.directory().find(origin)->version.generation > generation;
            });
        }
        rounds.add(static_cast<double>(w.net.now() - began) / static_cast<double>(w.how.round));
        w.run(10);
    }
    rounds.expect_mean(course.rounds, 5, 0.05 * course.rounds);
}

}  // namespace
}  // namespace posy::overlay
