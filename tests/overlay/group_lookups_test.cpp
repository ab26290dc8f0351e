#include "group_world.hpp"

namespace posy::overlay {
namespace {

// What a lookup from this node says, once its letters have come.
lookup_answer answer_of(group_world& w, node_id asker, digest key) {
    w.net.at(asker, [&](group_node& n, std::uint64_t now, outbox& out) { n.look_up(key, now, out); });
    w.run(60);
    const auto answers = w.net.find(asker)->take_answers();
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() ? lookup_answer{} : answers[0];
}

TEST(group_lookups, members_and_leaders_find_every_object_and_no_other) {
    for (const double loss : {0.0, 0.1}) {
        group_world w({.latency = {}, .loss = loss, .open = {}});
        w.how.lookups.patience = 3000;
        w.how.lookups.attempts = 15;
        w.fill(4, 6);
        w.run(300);
        at_least found(50);
        for (const auto& [holder, objects] : w.truth) {
            const node_id asker =
                std::next(w.truth.begin(), static_cast<int>(w.random() % w.truth.size()))->first;
            const auto answer = answer_of(w, asker, w.digest_of(*objects.begin()));
            EXPECT_EQ(answer.holder, holder) << asker;
            const auto absent = answer_of(w, asker, w.digest_of(9'000'000 + holder));
            EXPECT_FALSE(absent.holder || absent.timed_out) << asker;
            found += 2;
        }
    }
}

// From now on, a lookup each second: the holder is found, however long it takes, and nobody says that the
// object is absent.
void expect_found_in_the_end(group_world& w, node_id asker, node_id holder, int seconds) {
    const digest key = w.digest_of(*w.truth.at(holder).begin());
    for (int i = 0; i < seconds; ++i) {
        w.net.at(asker, [&](group_node& n, std::uint64_t now, outbox& out) { n.look_up(key, now, out); });
        w.run(1);
    }
    w.run(200);
    const auto answers = w.net.find(asker)->take_answers();
    EXPECT_EQ(answers.size(), static_cast<std::size_t>(seconds));
    for (const auto& answer : answers) EXPECT_EQ(answer.holder, holder) << "after " << answer.took << " ms";
}

// 101, 104 … are in the group of 2, the others in those of 1 and 3; 101 is the heir.
TEST(group_lookups, nothing_is_absent_while_a_leader_is_replaced) {
    struct way {
        node_id asker, holder;
    };
    for (const auto& [asker, holder] :
         {way{105, 107}, way{3, 107}, way{107, 105}, way{101, 105}, way{107, 110}}) {
        group_world w;
        w.how.lookups.attempts = 100;
        w.fill(3, 8);
        w.run(120);
        ASSERT_EQ(w.net.find(2)->heir(), 101u);
        w.crash(2);
        expect_found_in_the_end(w, asker, holder, 150);
    }
}

TEST(group_lookups, a_member_that_starts_anew_is_known_at_once) {
    group_world w;
    w.how.lookups.attempts = 100;
    w.fill(3, 8);
    w.run(120);
    w.net.crash(107);
    w.run(60);
    auto again = *group_node::make(107, "node", w.how, 2, 2, w.random(), w.net.now());
    for (const std::uint64_t object : w.truth.at(107)) again.insert(w.digest_of(object), w.net.now());
    w.net.join(107, std::move(again));
    expect_found_in_the_end(w, 105, 107, 60);
    w.expect_unions_exact();
}

// Members 102 and 104 are in a group with the one that asks, 103 is in the other.
TEST(group_lookups, a_lookup_goes_on_past_a_holder_that_is_silent) {
    for (const node_id other : {102, 103}) {
        group_world w;
        w.how.lookups.patience = 3000;
        w.how.lookups.attempts = 3;
        w.fill(2, 3);
        for (const node_id holder : {node_id{104}, other}) w.insert(holder, 7);
        w.run(120);
        w.crash(104);
        EXPECT_EQ(answer_of(w, 106, w.digest_of(7)).holder, other);
    }
}

TEST(group_lookups, answers_that_nobody_asked_for_change_nothing) {
    group_world w;
    w.fill(2, 3);
    w.run(120);
    group_node& member = *w.net.find(102);
    outbox out;
    const auto id = member.look_up(w.digest_of(7'000'000), w.net.now(), out);
    ASSERT_TRUE(id);
    ASSERT_EQ(out.size(), 1u);
    auto yes = std::vector<std::byte>{static_cast<std::byte>(group_kind::has)};
    const byte_view asked = out[0].message;
    yes.insert(yes.end(), asked.begin() + 1, asked.end());
    yes.push_back(std::byte{1});
    outbox none;
    member.receive(55, yes, w.net.now(), none);  // the right number and key from the wrong node
    EXPECT_TRUE(member.take_answers().empty());
    EXPECT_EQ(member.counted().strangers, 1u);
    for (const group_kind kind : {group_kind::ask, group_kind::told, group_kind::have, group_kind::has}) {
        const auto before = member.counted().bad_messages;
        member.receive(55, std::vector<std::byte>{static_cast<std::byte>(kind), std::byte{1}}, w.net.now(),
                       none);
        EXPECT_EQ(member.counted().bad_messages, before + 1);
    }
    EXPECT_TRUE(none.empty());
    // What leaders say to each other is no damage at a node that led before, and nothing to a member.
    const auto bad = member.counted().bad_messages, strange = member.counted().strangers;
    outbox gossip;
    w.net.find(1)->leave(w.net.now(), gossip);
    member.receive(1, gossip.back().message, w.net.now(), none);
    EXPECT_EQ(member.counted().bad_messages, bad);
    EXPECT_EQ(member.counted().strangers, strange + 1);
    EXPECT_EQ(none.size(), 1u);  // where the leader is
}

}  // namespace
}  // namespace posy::overlay
