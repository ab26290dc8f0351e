#include "posy/overlay/group_node.hpp"

#include <random>
#include <set>

#include "simulate/network.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

struct group_world {
    explicit group_world(simulate::links between = {}) : net(std::move(between), 1), random(1) {
        how.terms.geometry = {16'384, 5, layout_id::spread};
        how.terms.most_fill = 0.2;
        how.mesh.publish.change = 0;
    }
    void join(node_id who, std::optional<node_id> leader, std::optional<node_id> contact = {}) {
        auto node = *group_node::make(who, "node", how, leader, 1, random(), net.now());
        if (!leader && !truth.empty()) node.add_contact(contact.value_or(truth.begin()->first));
        truth[who];
        net.join(who, std::move(node));
    }
    static std::string key(std::uint64_t i) { return "key " + std::to_string(i); }
    digest digest_of(std::uint64_t i) const { return hasher()(std::string_view(key(i))); }
    void insert(node_id who, std::uint64_t object) {
        net.at(who, [&](group_node& n, std::uint64_t now, outbox&) { n.insert(digest_of(object), now); });
        truth[who].insert(object);
    }
    void remove(node_id who, std::uint64_t object) {
        net.at(who, [&](group_node& n, std::uint64_t now, outbox&) { n.remove(digest_of(object), now); });
        truth[who].erase(object);
    }
    void crash(node_id who) {
        net.crash(who);
        truth.erase(who);
    }
    void leave(node_id who) {
        net.at(who, [](group_node& n, std::uint64_t now, outbox& out) { n.leave(now, out); });
        crash(who);
    }
    void run(std::uint64_t seconds) { net.run_until(net.now() + seconds * 1000); }
    // Groups of `members` each; every node has five objects.
    void fill(node_id groups, node_id members) {
        for (node_id g = 1; g <= groups; ++g) join(g, std::nullopt);
        for (node_id m = 1; m <= groups * members; ++m) join(100 + m, 1 + m % groups);
        for (const auto& [who, objects] : std::map(truth)) {
            for (std::uint64_t i = 0; i < 5; ++i) insert(who, who * 100 + i);
        }
    }
    std::set<node_id> leaders() {
        std::set<node_id> all;
        net.each([&](node_id who, const group_node& n) {
            if (n.leads()) all.insert(who);
        });
        return all;
    }
    // Everything is found from every leader; and no leader takes anybody to be there who is not.
    void expect_all_found() {
        at_least found(100);
        for (const node_id from : leaders()) {
            for (const auto& [holder, objects] : truth) {
                for (const std::uint64_t object : objects) {
                    auto where = net.find(from)->leaders_with(digest_of(object));
                    where.push_back(from);
                    bool there = false;
                    for (const node_id leader : where) {
                        ASSERT_TRUE(net.find(leader)) << "a leader that is gone";
                        const auto members = net.find(leader)->members_with(digest_of(object));
                        there = there || std::ranges::find(members, holder) != members.end();
                    }
                    EXPECT_TRUE(there) << from << " looks for " << object;
                    ++found;
                }
            }
        }
    }
    // The union is exactly the union, bit for bit.
    void expect_unions_exact() {
        const auto& g = how.terms.geometry;
        for (const node_id leader : leaders()) {
            auto filter = *bloom_filter::make(g);
            for (const auto& [who, objects] : truth) {
                if (who != leader && net.find(who)->leader() != leader) continue;
                for (const std::uint64_t object : objects) filter.insert(digest_of(object));
            }
            EXPECT_EQ(net.find(leader)->mesh().set().projection(), filter) << leader;
        }
    }

    group_settings how;
    simulate::network<group_node> net;
    std::map<node_id, std::set<std::uint64_t>> truth;
    std::mt19937_64 random;
};

TEST(group_node, every_object_is_found_through_the_leaders) {
    group_world w;
    w.fill(4, 10);
    w.run(200);
    EXPECT_EQ(w.leaders().size(), 4u);
    w.expect_all_found();
    w.expect_unions_exact();
}

// What a lookup from this node says, once its letters have come.
lookup_answer answer_of(group_world& w, node_id asker, digest key) {
    w.net.at(asker, [&](group_node& n, std::uint64_t now, outbox& out) { n.look_up(key, now, out); });
    w.run(60);
    const auto answers = w.net.find(asker)->take_answers();
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() ? lookup_answer{} : answers[0];
}

TEST(group_node, members_and_leaders_find_every_object_and_no_other) {
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
TEST(group_node, nothing_is_absent_while_a_leader_is_replaced) {
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

TEST(group_node, a_member_that_starts_anew_is_known_at_once) {
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
TEST(group_node, a_lookup_goes_on_past_a_holder_that_is_silent) {
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

TEST(group_node, answers_that_nobody_asked_for_change_nothing) {
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
