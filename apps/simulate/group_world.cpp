#include "group_world.hpp"

#include <algorithm>
#include <cmath>

#include "posy/theory.hpp"

namespace posy::simulate {

group_world::group_world(std::uint64_t nodes, std::uint64_t objects, const options& o)
    : groups_(std::max<std::uint64_t>(2, static_cast<std::uint64_t>(std::sqrt(nodes)))),
      random_(o.seed),
      net_({.loss = o.loss}, o.seed + 1) {
    const std::uint64_t per_group = objects / groups_ + 1;
    how_.terms.geometry = {round_up_bits(24 * per_group, 6, layout_id::spread), 6, layout_id::spread};
    how_.terms.most_fill = 0.1;
    how_.mesh.publish.change = 0;
    how_.mesh.max_news = 64;
    if (o.churn > 0) how_.lookups.attempts = 1000;
    for (node_id who = 1; who <= nodes; ++who) join(who, objects * who / nodes - objects * (who - 1) / nodes);
}

node_id group_world::leader_of(node_id who) {
    const auto& node = *net_.find(who);
    return node.leads() ? who : *node.leader();
}

std::uint64_t group_world::leaders() {
    std::uint64_t all = 0;
    net_.each([&](node_id, const group_node& n) { all += n.leads(); });
    return all;
}

std::unordered_map<node_id, double> group_world::rates() {
    const auto& g = how_.terms.geometry;
    std::unordered_map<node_id, double> objects, all;
    for (const node_id who : nodes())
        objects[leader_of(who)] += static_cast<double>(truth_.objects_of(who).size());
    for (const auto& [leader, number] : objects)
        all[leader] = theory::spread_rate(number, static_cast<double>(g.bits), g.hashes);
    return all;
}

void group_world::change(node_id who) {
    net_.at(who, [&](group_node& n, std::uint64_t now, outbox&) {
        n.remove(digest_of(truth_.drop(who, truth_.objects_of(who).size() - 1)), now);
        n.insert(digest_of(truth_.add(who)), now);
    });
}

void group_world::crash(node_id who) {
    truth_.leave(who);
    net_.crash(who);
}

void group_world::fail(node_id who) {
    const group_node& node = *net_.find(who);
    led_by_[who] = node.leads() ? node.heir().value_or(who) : *node.leader();
    net_.crash(who);
}

void group_world::come_back(node_id who, std::uint32_t life) {
    node_id leader = led_by_.at(who);
    led_by_.erase(who);
    while (!net_.find(leader)) leader = random_node();
    auto node = *group_node::make(who, "node-" + std::to_string(who), how_, leader, life, random_(),
                                  net_.now(), &pool_);
    for (const std::uint64_t object : truth_.objects_of(who)) node.insert(digest_of(object), net_.now());
    net_.join(who, std::move(node));
}

bool group_world::settled() {
    const std::uint64_t leaders_now = leaders();
    std::optional<std::uint64_t> hash;
    for (const node_id who : nodes()) {
        const auto& node = *net_.find(who);
        if (!node.leads()) {
            const auto* leader = net_.find(*node.leader());
            if (!node.link().settled() || !leader || !leader->leads()) return false;
            continue;
        }
        const auto& directory = node.mesh().directory();
        if (!hash) hash = directory.hash();
        if (directory.hash() != *hash || directory.live().size() != leaders_now) return false;
        if (node.mesh().own_summary().due(net_.now() + 1)) return false;
    }
    return true;
}

double group_world::run_until_settled() {
    const std::uint64_t began = net_.now();
    while (!settled() && net_.now() < began + 3'600'000) net_.run_until(net_.now() + 1000);
    return static_cast<double>(net_.now() - began) / 1000;
}

digest group_world::digest_of(std::uint64_t object) const {
    return hasher(how_.terms.geometry.hash)(std::string_view("object " + std::to_string(object)));
}

void group_world::join(node_id who, std::uint64_t objects) {
    const auto leader = who <= groups_ ? std::nullopt : std::optional<node_id>(1 + who % groups_);
    auto node =
        *group_node::make(who, "node-" + std::to_string(who), how_, leader, 1, random_(), net_.now(), &pool_);
    if (who > 1 && !leader) node.add_contact(1 + below(who - 1));
    truth_.enter(who);
    for (std::uint64_t i = 0; i < objects; ++i) node.insert(digest_of(truth_.add(who)), net_.now());
    net_.join(who, std::move(node));
    // Not all beats at the same time.
    net_.run_until(net_.now() + 1 + below(3));
}

}  // namespace posy::simulate
