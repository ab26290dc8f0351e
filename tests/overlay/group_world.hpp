// Groups on a simulated network, and what their nodes have in truth.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "posy/overlay/group_node.hpp"
#include "simulate/network.hpp"
#include "statistics.hpp"

namespace posy::overlay {

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

}  // namespace posy::overlay
