#include "posy/overlay/tree_node.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>

#include "overlay/wire.hpp"
#include "simulate/network.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

using tree = simulate::network<tree_node>;

tree_settings small(std::uint64_t bits = 4096) {
    tree_settings s;
    s.terms.geometry = {.bits = bits, .hashes = 4, .layout = layout_id::spread};
    s.beat = 10'000;
    s.seeds = {1};
    return s;
}

digest key(std::uint64_t i) { return hasher()(i); }
auto bits_of(std::uint64_t object) { return positions_of(small().terms.geometry, key(object)); }

// Node i hangs below i / fan_out; the root is 1.
void grow(tree& net, node_id nodes, node_id fan_out, const tree_settings& how = small()) {
    for (node_id who = 1; who <= nodes; ++who) {
        net.join(who, tree_node(who, how, 1, who * 77));
        if (who == 1) continue;
        net.at(who, [&](tree_node& n, std::uint64_t now, outbox& out) {
            n.join(std::max<node_id>(1, (who + fan_out - 2) / fan_out), now, out);
        });
    }
    net.run_until(net.now() + 20'000);
}

void insert(tree& net, node_id who, std::uint64_t object) {
    net.at(who, [&](tree_node& n, std::uint64_t now, outbox& out) { n.insert(key(object), now, out); });
}
void remove(tree& net, node_id who, std::uint64_t object) {
    net.at(who, [&](tree_node& n, std::uint64_t now, outbox& out) { n.remove(key(object), now, out); });
}
lookup_answer look_up(tree& net, node_id who, std::uint64_t object) {
    net.at(who, [&](tree_node& n, std::uint64_t now, outbox& out) { n.look_up(key(object), now, out); });
    for (int i = 0; i < 60; ++i) {
        net.run_until(net.now() + 1000);
        auto answers = net.find(who)->take_answers();
        if (!answers.empty()) return answers.front();
    }
    ADD_FAILURE() << "no answer to " << who << " about " << object;
    return {};
}

// The invariant: a child's filter, as its parent has it, is that of all objects below the child.
void expect_filters_are_exact(tree& net, const std::map<std::uint64_t, node_id>& objects) {
    at_least checks(net.size() - 1);
    net.each([&](node_id id, tree_node& parent) {
        for (const node_id child : parent.children()) {
            std::set<position> expected;
            for (const auto& [object, at] : objects) {
                node_id up = at;
                while (up != child && net.find(up)->parent()) up = *net.find(up)->parent();
                if (up != child) continue;
                for (const auto p : bits_of(object)) expected.insert(static_cast<position>(p));
            }
            EXPECT_EQ(parent.ones_of(child), std::vector<position>(expected.begin(), expected.end()))
                << child << " below " << id;
            ++checks;
        }
    });
}

TEST(tree_node, finds_every_object_from_everywhere) {
    tree net({}, 1);
    grow(net, 40, 3);
    for (std::uint64_t i = 0; i < 200; ++i) insert(net, 1 + i * 7 % 40, i);
    net.run_until(net.now() + 20'000);
    std::mt19937_64 random(1);
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t object = random() % 200;
        const auto answer = look_up(net, 1 + random() % 40, object);
        ASSERT_EQ(answer.holder, 1 + object * 7 % 40);
        ASSERT_EQ(answer.attempts, 1u);
    }
    for (std::uint64_t i = 1000; i < 1050; ++i) {
        const auto answer = look_up(net, 1 + random() % 40, i);
        ASSERT_EQ(answer.holder, std::nullopt);
        ASSERT_FALSE(answer.timed_out);
    }
}

TEST(tree_node, filters_are_exact_after_insertions_and_removals) {
    tree net({.loss = 0.1}, 2);
    auto how = small();
    how.silent_beats = 12;  // that many in a row are not lost by chance
    grow(net, 30, 4, how);
    net.run_until(net.now() + 60'000);
    std::map<std::uint64_t, node_id> objects;
    std::mt19937_64 random(2);
    for (int i = 0; i < 600; ++i) {
        const std::uint64_t object = random() % 150;
        if (const auto found = objects.find(object); found != objects.end()) {
            remove(net, found->second, object);
            objects.erase(found);
        } else {
            objects[object] = 1 + random() % 30;
            insert(net, objects[object], object);
        }
        net.run_until(net.now() + random() % 500);
    }
    net.run_until(net.now() + 400'000);
    expect_filters_are_exact(net, objects);
    std::uint64_t wholes = 0, deltas = 0;
    net.each([&](node_id, tree_node& n) { wholes += n.updates().wholes, deltas += n.updates().deltas; });
    EXPECT_GT(deltas, 5 * wholes);
}

// Filters of 128 bits are wrong all the time: requests come back, and still find what there is.
TEST(tree_node, comes_back_from_false_positives) {
    tree net({}, 3);
    auto how = small(128);
    how.terms.most_fill = 1;
    grow(net, 40, 3, how);
    for (std::uint64_t i = 0; i < 200; ++i) insert(net, 1 + i % 40, i);
    net.run_until(net.now() + 20'000);
    for (std::uint64_t i = 0; i < 200; ++i) {
        ASSERT_EQ(look_up(net, 1 + i * 13 % 40, i).holder, 1 + i % 40);
    }
    for (std::uint64_t i = 1000; i < 1050; ++i) EXPECT_FALSE(look_up(net, 1 + i % 40, i).holder);
    std::uint64_t returned = 0;
    net.each([&](node_id, tree_node& n) { returned += n.counted().returned; });
    EXPECT_GT(returned, 100u);
}

TEST(tree_node, children_of_a_crashed_node_move_up_and_its_objects_leave) {
    tree net({}, 4);
    grow(net, 13, 3);  // 2, 3, 4 below 1; 5, 6, 7 below 2
    std::map<std::uint64_t, node_id> objects;
    for (std::uint64_t i = 0; i < 130; ++i) objects[i] = 1 + i % 13, insert(net, 1 + i % 13, i);
    net.run_until(net.now() + 40'000);
    net.crash(2);
    net.run_until(net.now() + 200'000);
    for (const node_id orphan : {5, 6, 7}) EXPECT_EQ(net.find(orphan)->parent(), 1u);
    std::erase_if(objects, [](const auto& entry) { return entry.second == 2; });
    expect_filters_are_exact(net, objects);
    for (const auto& [object, at] : objects) ASSERT_EQ(look_up(net, 13, object).holder, at);
    EXPECT_EQ(look_up(net, 13, 1).holder, std::nullopt);

    net.join(2, tree_node(2, small(), 2, 5));  // another life, without objects
    net.at(2, [](tree_node& n, std::uint64_t now, outbox& out) { n.join(3, now, out); });
    insert(net, 2, 500);
    net.run_until(net.now() + 40'000);
    EXPECT_EQ(look_up(net, 7, 500).holder, 2u);
}

// Twice a second, from everywhere, until everything has settled: what is below the node is found or not
// answered, and never said to be absent. `repair` is done to the node after a while.
void ask_all_the_time(tree& net, node_id broken, std::uint64_t repair_after,
                      const std::function<void()>& repair) {
    const std::uint64_t began = net.now();
    bool repaired = false;
    at_least answers(1000, "answers");
    std::uint64_t found_at_the_end = 0;
    for (std::uint64_t i = 0; net.now() < began + 200'000; ++i) {
        if (!repaired && net.now() >= began + repair_after) repaired = true, repair();
        const node_id asker = 1 + i % 13;
        if (net.find(asker)) {
            net.at(asker, [&](tree_node& n, std::uint64_t now, outbox& out) {
                for (const std::uint64_t object : {4, 5, 6}) n.look_up(key(object), now, out);  // at 5, 6, 7
            });
        }
        net.run_until(net.now() + 500);
        net.each([&](node_id, tree_node& n) {
            for (const auto& a : n.take_answers()) {
                ASSERT_TRUE(a.holder || a.timed_out) << "at " << net.now() - began;
                found_at_the_end += net.now() > began + 150'000 && a.holder && a.attempts == 1;
                ++answers;
            }
        });
    }
    EXPECT_GT(found_at_the_end, 250u) << "below " << broken;
}

TEST(tree_node, what_is_below_a_node_that_starts_anew_is_not_absent) {
    tree net({}, 4);
    grow(net, 13, 3);
    std::map<std::uint64_t, node_id> objects;
    for (std::uint64_t i = 0; i < 130; ++i) objects[i] = 1 + i % 13, insert(net, 1 + i % 13, i);
    net.run_until(net.now() + 40'000);
    net.crash(2);
    ask_all_the_time(net, 2, 20'000, [&] {  // less than one silence
        net.join(2, tree_node(2, small(), 2, 5));
        net.at(2, [](tree_node& n, std::uint64_t now, outbox& out) { n.join(1, now, out); });
        net.run_until(net.now() + 200);
        EXPECT_TRUE(net.find(1)->is_restoring(2));
    });
    EXPECT_FALSE(net.find(1)->is_restoring(2));
    for (const node_id child : {5, 6, 7}) EXPECT_EQ(net.find(child)->parent(), 2u);
    // Its own objects, which it did not bring with it, are absent.
    std::erase_if(objects, [](const auto& entry) { return entry.second == 2; });
    expect_filters_are_exact(net, objects);
    EXPECT_EQ(look_up(net, 13, 1).timed_out, false);
}

// The objects that the node brings with it have all bits of those that are asked for.
TEST(tree_node, an_accident_in_a_filter_makes_nothing_absent) {
    tree net({}, 4);
    grow(net, 13, 3);
    for (std::uint64_t i = 0; i < 13; ++i) insert(net, 1 + i, i);
    net.run_until(net.now() + 40'000);
    net.crash(2);
    ask_all_the_time(net, 2, 20'000, [&] {
        net.join(2, tree_node(2, small(), 2, 5));
        for (std::uint64_t n = 0; n < 12; ++n) {
            std::uint64_t like = 1000;
            while (std::ranges::count(bits_of(like), bits_of(4 + n / 4)[n % 4]) == 0) ++like;
            insert(net, 2, like);
        }
        net.at(2, [](tree_node& n, std::uint64_t now, outbox& out) { n.join(1, now, out); });
    });
}

// The parent hears a node's last beat some seconds before its children hear its last answer.
TEST(tree_node, what_is_below_a_node_that_is_lost_is_not_absent) {
    tree net({}, 4);
    grow(net, 13, 3);
    net.run_until(27'000);
    for (const node_id child : {5, 6, 7}) {
        net.join(child, tree_node(child, small(), 2, child));
        net.at(child, [](tree_node& n, std::uint64_t now, outbox& out) { n.join(2, now, out); });
    }
    for (std::uint64_t i = 0; i < 130; ++i) insert(net, 1 + i % 13, i);
    net.run_until(57'500);
    net.crash(2);
    ask_all_the_time(net, 2, 0, [] {});
    for (const node_id orphan : {5, 6, 7}) EXPECT_EQ(net.find(orphan)->parent(), 1u);
}

TEST(tree_node, a_child_cannot_pile_up_bits_by_starting_anew) {
    tree_node node(1, small(), 1, 3);
    outbox out;
    const auto live = [&](std::uint32_t life, position ones_of_a_life) {
        filter_sender child(small().terms, life);
        const auto ones = [&](unsigned) {
            std::vector<position> all(ones_of_a_life);
            for (position p = 0; p < all.size(); ++p) all[p] = ones_of_a_life * (life - 1) + p;
            return all;
        };
        node.receive(7, *child.next(1, 0, ones), 0, out);
    };
    live(1, 1000), live(2, 1000);
    EXPECT_TRUE(node.is_restoring(7));
    live(3, 1300);  // 2,000 of former lives and 1,300 are above 0.7 of 4,096: one life is kept
    EXPECT_EQ(node.ones_of(7).size(), 1300u);
    EXPECT_LT(node.memory(), 2 * 4096 / 8 + 100u);
    node.tick(39'999, out);
    EXPECT_TRUE(node.is_restoring(7));
    node.tick(40'000, out);
    EXPECT_FALSE(node.is_restoring(7));
    node.tick(60'000, out);
    EXPECT_TRUE(node.children().empty());
}

TEST(tree_node, an_heir_follows_the_root) {
    tree net({}, 5);
    grow(net, 13, 3);
    for (std::uint64_t i = 0; i < 130; ++i) insert(net, 1 + i % 13, i);
    net.run_until(net.now() + 40'000);
    net.crash(1);
    net.run_until(net.now() + 300'000);
    EXPECT_TRUE(net.find(2)->is_root());
    EXPECT_EQ(net.find(3)->parent(), 2u);
    for (std::uint64_t i = 0; i < 130; ++i) {
        if (i % 13 != 0) {
            ASSERT_EQ(look_up(net, 13, i).holder, 1 + i % 13);
        }
    }
    net.join(1, tree_node(1, small(), 2, 9));  // it comes back: the seeds were asked all the time
    net.run_until(net.now() + 100'000);
    EXPECT_EQ(net.find(2)->parent(), 1u);
    EXPECT_EQ(look_up(net, 1, 5).holder, 6u);
}

TEST(tree_node, a_leaving_node_says_where_to_go) {
    tree net({}, 6);
    grow(net, 13, 3);
    for (std::uint64_t i = 0; i < 130; ++i) insert(net, 1 + i % 13, i);
    net.run_until(net.now() + 20'000);
    net.at(2, [](tree_node& n, std::uint64_t, outbox& out) { n.leave(out); });
    net.crash(2);
    net.run_until(net.now() + 10'000);  // less than one silence
    for (const node_id orphan : {5, 6, 7}) EXPECT_EQ(net.find(orphan)->parent(), 1u);
    EXPECT_EQ(look_up(net, 13, 4).holder, 5u);
    EXPECT_EQ(look_up(net, 13, 1).holder, std::nullopt);
}

TEST(tree_node, a_tree_that_was_cut_in_two_grows_together) {
    bool cut = false;
    tree net({.open =
                  [&](node_id a, node_id b, std::uint64_t) {
                      return !cut || a == b ||
                             ((a == 2 || (a >= 5 && a <= 7)) == (b == 2 || (b >= 5 && b <= 7)));
                  }},
             7);
    grow(net, 13, 3);
    for (std::uint64_t i = 0; i < 130; ++i) insert(net, 1 + i % 13, i);
    net.run_until(net.now() + 20'000);
    cut = true;
    net.run_until(net.now() + 300'000);
    EXPECT_TRUE(net.find(2)->is_root());
    EXPECT_EQ(look_up(net, 7, 4).holder, 5u);            // inside its part
    EXPECT_EQ(look_up(net, 7, 2).holder, std::nullopt);  // in the other
    EXPECT_EQ(look_up(net, 13, 4).holder, std::nullopt);
    cut = false;
    net.run_until(net.now() + 100'000);
    EXPECT_EQ(look_up(net, 7, 2).holder, 3u);
    EXPECT_EQ(look_up(net, 13, 4).holder, 5u);
}

TEST(tree_node, lost_requests_are_asked_again) {
    tree net({.loss = 0.2}, 8);
    auto how = small();
    how.silent_beats = 12;
    how.lookups.attempts = 100;  // each is answered with odds of 0.8^7 at least
    grow(net, 40, 3, how);
    net.run_until(net.now() + 100'000);
    for (std::uint64_t i = 0; i < 100; ++i) insert(net, 1 + i % 40, i);
    net.run_until(net.now() + 200'000);
    for (std::uint64_t i = 0; i < 100; ++i) {
        net.at(40, [&](tree_node& n, std::uint64_t now, outbox& out) { n.look_up(key(i), now, out); });
    }
    net.run_until(net.now() + 1'010'000);
    std::uint64_t right = 0, again = 0;
    for (const auto& a : net.find(40)->take_answers()) right += a.holder.has_value(), again += a.attempts > 1;
    EXPECT_EQ(right, 100u);
    EXPECT_GT(again, 20u);
}

TEST(tree_node, bounds_what_strangers_can_do) {
    auto how = small();
    how.most_children = 5;
    tree_node node(1, how, 1, 3);
    outbox out;
    for (node_id stranger = 100; stranger < 200; ++stranger) {
        node.receive(stranger, begin_message(tree_kind::beat), 0, out);
    }
    EXPECT_EQ(node.children().size(), 5u);
    EXPECT_EQ(node.counted().refused, 95u);

    // All ones, of the right geometry: refused, and not passed up.
    std::vector<position> all(4096);
    for (position p = 0; p < all.size(); ++p) all[p] = p;
    filter_sender flooder(how.terms, 9);
    node.receive(100, *flooder.next(1, 0, [&](unsigned) { return all; }), 0, out);
    EXPECT_EQ(node.counted().refused, 96u);
    EXPECT_FALSE(node.may_be_below(100, key(1)));
    EXPECT_LT(node.memory(), 5 * 4096u);

    // A request of a stranger, an answer that nobody waits for, and noise.
    std::vector<std::byte> ask(48, std::byte{0});
    ask[0] = static_cast<std::byte>(tree_kind::ask);
    node.receive(900, ask, 0, out);
    std::vector<std::byte> found(23, std::byte{0});
    found[0] = static_cast<std::byte>(tree_kind::found);
    node.receive(900, found, 0, out);
    EXPECT_EQ(node.counted().strangers, 2u);
    std::mt19937_64 random(9);
    out.clear();
    for (int i = 0; i < 50'000; ++i) {
        std::vector<std::byte> noise(random() % 60);
        for (std::byte& b : noise) b = static_cast<std::byte>(random());
        if (!noise.empty()) noise[0] = static_cast<std::byte>(random() % 12);
        node.receive(random() % 2 ? 100 : 900, noise, 0, out);
        ASSERT_LE(out.size(), 1u) << "no amplification";
        out.clear();
    }
    EXPECT_GT(node.counted().damaged, 10'000u);
    EXPECT_LE(node.children().size(), 5u);
}

TEST(tree_node, filters_of_other_terms_are_told_to_both) {
    tree net({}, 1);
    grow(net, 2, 4);
    net.join(3, tree_node(3, small(8192), 1, 3));
    net.at(3, [](tree_node& n, std::uint64_t now, outbox& out) { n.join(1, now, out); });
    insert(net, 3, 7);
    net.run_until(net.now() + 60'000);
    EXPECT_FALSE(net.find(1)->differs(2));
    EXPECT_TRUE(net.find(1)->differs(3));
    EXPECT_FALSE(net.find(2)->parent_differs());
    EXPECT_TRUE(net.find(3)->parent_differs());
}

}  // namespace
}  // namespace posy::overlay
