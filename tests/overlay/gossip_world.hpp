// A small mesh on a simulated network, and what its nodes truly have.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "posy/overlay/gossip_node.hpp"
#include "simulate/network.hpp"

namespace posy::overlay {

inline gossip_settings quick_settings() {
    gossip_settings how;
    how.publish.change = 0;
    return how;
}

struct gossip_world {
    explicit gossip_world(simulate::links between = {}, std::uint64_t seed = 1,
                          gossip_settings settings = quick_settings())
        : how(settings), net(std::move(between), seed), random(seed) {}

    static constexpr posy::geometry shape{8192, 5, layout_id::spread};

    void join(node_id who, std::uint64_t incarnation = 1) {
        gossip_settings mine = how;
        mine.incarnation = incarnation;
        auto node = *gossip_node::make(who, "address " + std::to_string(who), *counting_filter::make(shape),
                                       mine, random(), net.now());
        for (const auto& [other, keys] : truth) node.add_contact(other);
        truth[who];
        net.join(who, std::move(node));
    }
    void crash(node_id who) {
        net.crash(who);
        truth.erase(who);
    }
    void leave(node_id who) {
        net.at(who, [](gossip_node& n, std::uint64_t now, outbox& out) { n.leave(now, out); });
        crash(who);
    }
    void insert(node_id who, const std::string& key) {
        net.find(who)->insert(hasher(shape.hash)(std::string_view(key)));
        truth[who].insert(key);
    }
    void remove(node_id who, const std::string& key) {
        EXPECT_TRUE(net.find(who)->remove(hasher(shape.hash)(std::string_view(key))));
        truth[who].erase(key);
    }
    void run(double rounds) {
        net.run_until(net.now() + static_cast<std::uint64_t>(rounds * static_cast<double>(how.round)));
    }

    // Everybody knows exactly the nodes that there are, their addresses and their summaries, bit for bit.
    bool agrees(node_id who) {
        const auto& directory = net.find(who)->directory();
        if (directory.live().size() != truth.size()) return false;
        for (const auto& [other, keys] : truth) {
            const auto* m = directory.find(other);
            if (!m || m->version.status != standing::alive) return false;
            if (m->address != "address " + std::to_string(other)) return false;
            if (other == who) continue;
            if (!m->summary.filter() || !(*m->summary.filter() == net.find(other)->set().projection()))
                return false;
        }
        return true;
    }
    bool all_agree() {
        for (const auto& [who, keys] : truth) {
            if (!agrees(who)) return false;
        }
        return true;
    }
    // Rounds until all agree; more than `most` if they do not.
    double rounds_until_agreed(double most = 300) {
        double rounds = 0;
        for (; rounds <= most && !all_agree(); rounds += 1) run(1);
        return rounds;
    }
    gossip_counts counts() {
        gossip_counts sum;
        net.each([&](node_id, const gossip_node& n) {
            sum.bad_messages += n.counts().bad_messages;
            sum.suspicions += n.counts().suspicions;
            sum.objections += n.counts().objections;
            sum.refused += n.counts().refused;
            sum.throttled += n.counts().throttled;
        });
        return sum;
    }

    gossip_settings how;
    simulate::network<gossip_node> net;
    std::map<node_id, std::set<std::string>> truth;
    std::mt19937_64 random;
};

}  // namespace posy::overlay
