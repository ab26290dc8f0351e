#include "posy/overlay/group_node.hpp"

#include "group_world.hpp"

namespace posy::overlay {
namespace {

TEST(group_node, every_object_is_found_through_the_leaders) {
    group_world w;
    w.fill(4, 10);
    w.run(200);
    EXPECT_EQ(w.leaders().size(), 4u);
    w.expect_all_found();
    w.expect_unions_exact();
}

TEST(group_node, removals_and_leavings_take_bits_out_of_the_union) {
    group_world w;
    w.fill(3, 8);
    w.run(120);
    for (node_id who = 101; who <= 110; ++who) w.remove(who, who * 100 + 1);
    w.leave(111);
    w.crash(112);
    w.run(120);
    w.expect_unions_exact();
    w.expect_all_found();
    for (const node_id leader : w.leaders())
        EXPECT_TRUE(w.net.find(leader)->members_with(w.digest_of(112'00)).empty());
}

TEST(group_node, a_leader_that_crashes_is_replaced_by_its_heir) {
    group_world w;
    w.fill(3, 8);
    w.run(120);
    const auto heir = w.net.find(2)->heir();
    ASSERT_TRUE(heir);
    w.crash(2);
    w.run(600);
    EXPECT_EQ(w.leaders().size(), 3u);
    EXPECT_TRUE(w.net.find(*heir)->leads());
    w.expect_unions_exact();
    w.expect_all_found();
}

// However little it is, and however seldom leaders publish, what members bring to an heir is told at once.
TEST(group_node, an_heir_tells_what_its_members_have) {
    group_world w;
    w.how.mesh.publish = {.change = 0.5, .max_age = 3'600'000, .least_items = 100'000};
    w.fill(3, 8);
    w.run(120);
    w.crash(2);
    w.run(120);
    EXPECT_EQ(w.leaders().size(), 3u);
    at_least checks(5);
    for (const auto& [who, objects] : w.truth) {
        const auto leader = w.net.find(who)->leader();
        if (!leader || *leader < 100) continue;
        for (const std::uint64_t object : objects) {
            const auto told = w.net.find(1)->leaders_with(w.digest_of(object));
            EXPECT_TRUE(std::ranges::find(told, *leader) != told.end()) << object;
            ++checks;
        }
    }
}

TEST(group_node, filters_of_other_terms_are_told_to_both) {
    group_world w;
    w.join(1, std::nullopt);
    w.join(101, 1);
    w.how.terms.geometry.bits /= 2;
    w.join(102, 1);
    w.insert(102, 7);
    w.run(60);
    const group_node& leader = *w.net.find(1);
    EXPECT_FALSE(leader.differs(101));
    EXPECT_TRUE(leader.differs(102));
    EXPECT_FALSE(w.net.find(101)->link().other_terms());
    EXPECT_TRUE(w.net.find(102)->link().other_terms());
}

TEST(group_node, a_leader_that_leaves_hands_its_group_over_at_once) {
    group_world w;
    w.fill(3, 8);
    w.run(120);
    const auto heir = w.net.find(3)->heir();
    w.leave(3);
    w.run(20);
    EXPECT_TRUE(w.net.find(*heir)->leads());
    w.run(180);
    w.expect_unions_exact();
    w.expect_all_found();
}

TEST(group_node, leader_and_heir_lost_at_once_scatter_the_group) {
    group_world w;
    w.fill(3, 8);
    w.run(120);
    const auto heir = *w.net.find(1)->heir();
    w.crash(1);
    w.crash(heir);
    w.run(900);
    w.expect_unions_exact();
    w.expect_all_found();
}

// Alone behind a cut, a member tries its leader, the heir and the other leaders, and leads in the end; when
// the cut is mended, it finds whichever of them is still there.
TEST(group_node, a_member_behind_a_cut_comes_back) {
    for (const node_id gone : {1, 2}) {
        bool cut = false;
        group_world w(
            {.open = [&](node_id from, node_id to, auto) { return !cut || (from == 105) == (to == 105); }});
        w.fill(2, 3);
        w.run(120);
        cut = true;
        w.run(600);
        EXPECT_TRUE(w.net.find(105)->leads());
        w.insert(105, 7);
        w.crash(gone);
        cut = false;
        w.run(900);
        w.expect_unions_exact();
        w.expect_all_found();
    }
}

TEST(group_node, loss_delays_and_no_more) {
    group_world w({.loss = 0.1});
    w.how.silent_beats = 8;
    w.how.mesh.tries = 6;
    w.fill(3, 8);
    w.run(600);
    w.expect_unions_exact();
    w.expect_all_found();
}

// Of two groups; 102 is the heir of its leader, 104 is not.
TEST(group_node, a_member_shows_newcomers_the_way_to_its_leader) {
    for (const node_id asked : {102, 104}) {
        group_world w;
        w.fill(2, 3);
        w.run(120);
        w.join(200, asked);
        w.join(300, std::nullopt, asked);
        w.insert(200, 7), w.insert(300, 8);
        w.run(300);
        EXPECT_EQ(w.net.find(200)->leader(), 1u);
        EXPECT_EQ(w.leaders(), (std::set<node_id>{1, 2, 300}));
        w.expect_unions_exact();
        w.expect_all_found();
    }
}

TEST(group_node, a_full_group_sends_members_elsewhere) {
    group_world w;
    w.how.most_members = 5;
    w.join(1, std::nullopt);
    w.join(2, std::nullopt);
    w.run(60);
    for (node_id who = 101; who <= 108; ++who) w.join(who, 1);
    for (node_id who = 101; who <= 108; ++who) w.insert(who, who * 100);
    w.run(300);
    EXPECT_EQ(w.net.find(1)->members() + w.net.find(2)->members(), 8u);
    EXPECT_EQ(w.net.find(1)->members(), 5u);
}

TEST(group_node, hostile_messages_are_counted_and_change_nothing) {
    group_world w;
    w.fill(1, 3);
    w.run(60);
    const auto before = w.net.find(1)->mesh().set().projection().ones();
    std::mt19937_64 random(5);
    std::uint64_t sent = 0;
    for (; sent < 5000; ++sent) {
        std::vector<std::byte> noise(1 + random() % 40);
        for (std::byte& b : noise) b = static_cast<std::byte>(random());
        noise[0] = static_cast<std::byte>(0x30 + random() % 5);
        outbox out;
        // From one stranger: it may become a member with an empty filter, and no more.
        w.net.find(1)->receive(999, noise, w.net.now(), out);
    }
    const auto& counted = w.net.find(1)->counted();
    EXPECT_GT(counted.bad_messages + counted.throttled + counted.refused, sent / 2);
    EXPECT_EQ(w.net.find(1)->mesh().set().projection().ones(), before);
    EXPECT_LE(w.net.find(1)->members(), 4u);
    w.run(120);
    w.expect_unions_exact();
}

TEST(group_node, a_member_that_claims_everything_is_refused) {
    group_world w;
    w.fill(1, 2);
    w.run(60);
    w.join(555, 1);
    for (std::uint64_t i = 0; i < 2000; ++i)
        w.net.at(555, [&](group_node& n, std::uint64_t now, outbox&) {
            n.insert(w.digest_of(i + 7'000'000), now);
        });
    w.run(60);
    EXPECT_GT(w.net.find(1)->counted().refused, 0u);
    EXPECT_TRUE(w.net.find(1)->members_with(w.digest_of(7'000'000)).empty());
}

}  // namespace
}  // namespace posy::overlay
