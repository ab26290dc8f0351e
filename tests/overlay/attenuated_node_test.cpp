#include "posy/overlay/attenuated_node.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "overlay/wire.hpp"
#include "simulate/network.hpp"
#include "statistics.hpp"

namespace posy::overlay {
namespace {

using mesh = simulate::network<attenuated_node>;

attenuated_settings small(std::uint64_t bits = 8192, unsigned levels = 3) {
    attenuated_settings s;
    s.terms.geometry = {.bits = bits, .hashes = 4, .layout = layout_id::spread};
    s.terms.levels = levels;
    s.beat = 10'000;
    return s;
}

digest key(std::uint64_t i) { return hasher()(i); }

// A graph and who has what: the oracle.
struct world {
    std::map<node_id, std::set<node_id>> neighbours;
    std::map<node_id, std::set<std::uint64_t>> objects;

    std::vector<node_id> members() const {
        std::vector<node_id> all;
        for (const auto& [id, others] : neighbours) all.push_back(id);
        return all;
    }
    // Positions at a level of what `of` tells `to`.
    std::vector<position> expected(node_id of, node_id to, unsigned level, const geometry& g) const {
        std::set<std::pair<node_id, node_id>> edges{{to, of}};
        for (unsigned i = 0; i < level; ++i) {
            std::set<std::pair<node_id, node_id>> next;
            for (const auto& [back, at] : edges) {
                for (const node_id other : neighbours.at(at)) {
                    if (other != back) next.insert({at, other});
                }
            }
            edges = std::move(next);
        }
        std::set<position> ones;
        for (const auto& [back, at] : edges) {
            const auto found = objects.find(at);
            if (found == objects.end()) continue;
            for (const auto object : found->second) {
                for (const auto p : positions_of(g, key(object))) ones.insert(static_cast<position>(p));
            }
        }
        return {ones.begin(), ones.end()};
    }
};

// A circle with a chord from each node, which has cycles of all small lengths.
world circle(node_id nodes) {
    world w;
    const auto connect = [&](node_id a, node_id b) {
        if (a != b) w.neighbours[a].insert(b), w.neighbours[b].insert(a);
    };
    for (node_id i = 0; i < nodes; ++i) connect(i, (i + 1) % nodes), connect(i, (i * 7 + 3) % nodes);
    return w;
}

void join(mesh& net, const world& w, node_id who, const attenuated_settings& how, std::uint32_t life = 1) {
    net.join(who, attenuated_node(who, how, life, who + 1000));
    net.at(who, [&](attenuated_node& n, std::uint64_t now, outbox& out) {
        n.set_members(w.members(), now, out);
        if (const auto found = w.objects.find(who); found != w.objects.end()) {
            for (const auto object : found->second) n.insert(key(object), now, out);
        }
        for (const node_id other : w.neighbours.at(who)) {
            if (other < who || life > 1) n.connect(other, now, out);
        }
    });
}

void build(mesh& net, const world& w, const attenuated_settings& how) {
    for (const node_id who : w.members()) join(net, w, who, how);
    net.run_until(net.now() + 60'000);
}

lookup_answer look_up(mesh& net, node_id who, std::uint64_t object) {
    net.at(who,
           [&](attenuated_node& n, std::uint64_t now, outbox& out) { n.look_up(key(object), now, out); });
    for (int i = 0; i < 60; ++i) {
        net.run_until(net.now() + 1000);
        auto answers = net.find(who)->take_answers();
        if (!answers.empty()) return answers.front();
    }
    ADD_FAILURE() << "no answer to " << who << " about " << object;
    return {};
}

void expect_arrays_are_exact(mesh& net, const world& w, const attenuated_settings& how) {
    at_least checks(net.size() * how.terms.levels);
    net.each([&](node_id to, attenuated_node& node) {
        for (const node_id of : node.neighbours()) {
            for (unsigned level = 0; level < how.terms.levels; ++level, ++checks) {
                ASSERT_EQ(node.level(of, level).sorted(), w.expected(of, to, level, how.terms.geometry))
                    << "level " << level << " of " << of << " at " << to;
            }
        }
    });
}

TEST(attenuated_node, arrays_are_exact_whatever_comes_goes_and_is_lost) {
    world w = circle(25);
    std::mt19937_64 random(1);
    for (std::uint64_t i = 0; i < 100; ++i) w.objects[random() % 25].insert(i);
    const auto how = [] {
        auto s = small();
        s.silent_beats = 20;
        return s;
    }();
    mesh net({.loss = 0.1}, 1);
    build(net, w, how);
    for (int i = 0; i < 300; ++i) {
        const node_id who = random() % 25;
        const std::uint64_t object = random() % 120;
        net.at(who, [&](attenuated_node& n, std::uint64_t now, outbox& out) {
            if (w.objects[who].erase(object)) {
                EXPECT_TRUE(n.remove(key(object), now, out));
            } else {
                w.objects[who].insert(object);
                EXPECT_TRUE(n.insert(key(object), now, out));
            }
        });
        net.run_until(net.now() + random() % 400);
    }
    net.run_until(net.now() + 600'000);
    expect_arrays_are_exact(net, w, how);
    net.each([](node_id, attenuated_node& n) { EXPECT_EQ(n.unpublished(), 0u); });
}

TEST(attenuated_node, goes_to_the_nearest_copy_and_home_for_the_others) {
    world w = circle(60);
    std::mt19937_64 random(2);
    std::map<std::uint64_t, std::set<node_id>> holders;
    for (std::uint64_t i = 0; i < 200; ++i) {
        for (unsigned copies = 0; copies < 1 + i % 3; ++copies) {
            const node_id at = random() % 60;
            w.objects[at].insert(i), holders[i].insert(at);
        }
    }
    mesh net({}, 2);
    build(net, w, small(1 << 16));  // hardly a wrong yes
    at_least near(20), far(20);
    for (int i = 0; i < 400; ++i) {
        const node_id who = random() % 60;
        const std::uint64_t object = random() % 200;
        std::set<node_id> ring{who}, seen{who};
        unsigned steps = 0;
        const auto here = [&](node_id at) { return holders[object].contains(at); };
        while (std::ranges::none_of(ring, here)) {
            std::set<node_id> next;
            for (const node_id at : ring) next.insert(w.neighbours[at].begin(), w.neighbours[at].end());
            std::erase_if(next, [&](node_id at) { return !seen.insert(at).second; });
            ring = next;
            ++steps;
        }
        const auto answer = look_up(net, who, object);
        ASSERT_TRUE(answer.holder && holders[object].contains(*answer.holder));
        if (steps <= 3) {
            ASSERT_EQ(answer.hops, steps) << "not the nearest";
            ++near;
        } else {
            ++far;
        }
    }
    for (std::uint64_t i = 1000; i < 1030; ++i) {
        const auto answer = look_up(net, i % 60, i);
        EXPECT_FALSE(answer.holder || answer.timed_out);
    }
}

TEST(attenuated_node, finds_everything_though_its_filters_are_wrong) {
    world w = circle(40);
    for (std::uint64_t i = 0; i < 200; ++i) w.objects[i * 11 % 40].insert(i);
    auto how = small(128);
    how.terms.most_fill = 1;
    mesh net({}, 3);
    build(net, w, how);
    for (std::uint64_t i = 0; i < 200; ++i) ASSERT_EQ(look_up(net, i * 3 % 40, i).holder, i * 11 % 40);
    std::uint64_t gave_up = 0;
    net.each([&](node_id, attenuated_node& n) { gave_up += n.counted().gave_up; });
    EXPECT_GT(gave_up, 50u);
}

TEST(attenuated_node, a_crash_is_noticed_and_a_home_is_told_again) {
    world w = circle(20);
    for (std::uint64_t i = 0; i < 100; ++i) w.objects[i % 20].insert(i);
    auto how = small();
    how.republish = 100'000;
    mesh net({}, 4);
    build(net, w, how);
    net.crash(7);
    world without = w;
    without.objects.erase(7);
    for (const node_id other : w.neighbours[7]) without.neighbours[other].erase(7);
    without.neighbours.erase(7);
    net.run_until(net.now() + 200'000);
    expect_arrays_are_exact(net, without, how);

    join(net, w, 7, how, 2);  // with its objects, but what it knew as a home is gone
    net.run_until(net.now() + 200'000);
    expect_arrays_are_exact(net, w, how);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(look_up(net, (i * 3 + 5) % 20, i).holder, i % 20);
}

// The next node on the ring knows what a home knew. Without it, the objects of the home would seem absent.
TEST(attenuated_node, a_home_that_starts_anew_asks_the_next_one) {
    world w = circle(20);
    for (std::uint64_t i = 0; i < 200; ++i) w.objects[i % 20].insert(i);
    const auto how = small(8192, 1);
    mesh net({}, 4);
    build(net, w, how);
    std::size_t lost = 0;
    for (node_id home = 0; home < 20; home += 5) {
        lost += net.find(home)->pointers();
        net.crash(home);
        join(net, w, home, how, 2);
        net.run_until(net.now() + 1000);
        for (std::uint64_t i = 0; i < 200; ++i)
            ASSERT_EQ(look_up(net, (i * 3 + 5) % 20, i).holder, i % 20) << home;
    }
    EXPECT_GT(lost, 40u);
    EXPECT_EQ(look_up(net, 3, 1000).holder, std::nullopt);
    EXPECT_FALSE(look_up(net, 3, 1000).timed_out);
}

TEST(attenuated_node, a_home_forgets_holders_that_disown) {
    world w = circle(20);
    w.objects[3].insert(1), w.objects[9].insert(1);
    mesh net({}, 5);
    build(net, w, small());
    // One copy goes while its node cannot tell: it starts anew, with nothing.
    w.objects[9].clear();
    net.crash(9);
    join(net, w, 9, small(), 2);
    net.run_until(net.now() + 60'000);
    for (node_id who = 0; who < 20; ++who) ASSERT_EQ(look_up(net, who, 1).holder, 3u);
    net.at(3, [](attenuated_node& n, std::uint64_t now, outbox& out) { n.remove(key(1), now, out); });
    net.run_until(net.now() + 60'000);
    for (node_id who = 0; who < 20; ++who) ASSERT_EQ(look_up(net, who, 1).holder, std::nullopt);
}

TEST(attenuated_node, a_node_that_leaves_takes_its_bits_along) {
    world w = circle(20);
    for (std::uint64_t i = 0; i < 60; ++i) w.objects[i % 20].insert(i);
    mesh net({}, 6);
    build(net, w, small());
    net.at(7, [](attenuated_node& n, std::uint64_t, outbox& out) { n.leave(out); });
    net.crash(7);
    w.objects.erase(7);
    for (const node_id other : w.neighbours[7]) w.neighbours[other].erase(7);
    w.neighbours.erase(7);
    net.run_until(net.now() + 10'000);  // less than one silence
    expect_arrays_are_exact(net, w, small());
}

TEST(attenuated_node, bounds_what_strangers_can_do) {
    auto how = small(4096);
    how.most_neighbours = 5;
    how.most_pointers = 50;
    attenuated_node node(1, how, 1, 3);
    outbox out;
    for (node_id stranger = 100; stranger < 200; ++stranger) {
        node.receive(stranger, begin_message(attenuated_kind::beat), 0, out);
    }
    EXPECT_EQ(node.neighbours().size(), 5u);
    EXPECT_EQ(node.counted().refused, 95u);

    std::vector<position> all(4096);
    for (position p = 0; p < all.size(); ++p) all[p] = p;
    filter_sender flooder(how.terms, 9);
    node.receive(100, *flooder.next(1, 0, [&](unsigned) { return all; }), 0, out);
    EXPECT_EQ(node.counted().refused, 96u);
    EXPECT_EQ(node.level(100, 0).ones(), 0u);

    std::mt19937_64 random(9);
    for (int i = 0; i < 100'000; ++i) {
        std::vector<std::byte> noise(random() % 50);
        if (i % 2) noise.resize(i % 4 == 1 ? 32 : 40);  // the sizes of publications and requests
        for (std::byte& b : noise) b = static_cast<std::byte>(random());
        if (!noise.empty()) noise[0] = static_cast<std::byte>(random() % 14);
        if (noise.size() == 32 || noise.size() == 40) noise.back() &= std::byte{1};
        out.clear();
        node.receive(random() % 2 ? 100 : 900, noise, 0, out);
        ASSERT_LE(out.size(), 1u + 5u) << "one answer, and updates to neighbours";
    }
    EXPECT_GT(node.counted().damaged, 10'000u);
    EXPECT_LE(node.neighbours().size(), 5u);
    EXPECT_LE(node.pointers(), 50u);
    EXPECT_LE(node.unpublished(), 1u);
    EXPECT_LT(node.memory(), 100'000u);
}

}  // namespace
}  // namespace posy::overlay
