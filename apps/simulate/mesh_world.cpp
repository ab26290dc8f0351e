#include "mesh_world.hpp"

namespace posy::simulate {

node_id mesh_world::join(std::uint64_t objects) {
    const node_id who = ++last_node_;
    const std::uint64_t seed = random_();
    std::vector<node_id> contacts;
    for (int i = 0; i < 3 && !nodes().empty(); ++i) contacts.push_back(random_node());
    truth_.enter(who);
    auto set = *counting_filter::make(shape_);
    for (std::uint64_t i = 0; i < objects; ++i) set.insert(digest_of(truth_.add(who)));
    auto node = *overlay::gossip_node::make(who, "node-" + std::to_string(who), std::move(set), how_, seed,
                                            net_.now(), &pool_);
    for (const node_id each : contacts) node.add_contact(each);
    net_.join(who, std::move(node));
    return who;
}

void mesh_world::crash(node_id who) {
    truth_.leave(who);
    net_.crash(who);
}

void mesh_world::leave(node_id who) {
    net_.at(who, [](overlay::gossip_node& node, std::uint64_t now, overlay::outbox& out) {
        node.leave(now, out);
    });
    truth_.leave(who);
    net_.crash(who);
}

void mesh_world::change(node_id who) {
    auto& node = *net_.find(who);
    const std::size_t before = truth_.objects_of(who).size();
    if (before > 0) node.remove(digest_of(truth_.drop(who, below(before))));
    node.insert(digest_of(truth_.add(who)));
}

bool mesh_world::all_agree() {
    const std::uint64_t hash = net_.find(nodes().front())->directory().hash();
    for (const node_id who : nodes()) {
        const auto& directory = net_.find(who)->directory();
        if (directory.live().size() != nodes().size() || directory.hash() != hash) return false;
    }
    // The same live members everywhere, as many as there are nodes: they are the nodes.
    for (const node_id who : net_.find(nodes().front())->directory().live()) {
        if (!truth_.contains(who)) return false;
    }
    return true;
}

std::optional<std::uint64_t> mesh_world::run_until_agreed(std::uint64_t latest) {
    while (!all_agree()) {
        if (net_.now() >= latest) return std::nullopt;
        net_.run_until(net_.now() + how_.round / 10);
    }
    return net_.now();
}

spreading_change mesh_world::watch(node_id origin) {
    return {origin, net_.find(origin)->own_summary().generation(), net_.now(), nodes()};
}

double mesh_world::known_share(const spreading_change& change) {
    std::uint64_t there = 0, know = 0;
    for (const node_id who : change.audience) {
        const auto* node = net_.find(who);
        if (!node) continue;
        ++there;
        const auto* m = node->directory().find(change.origin);
        know += m && m->version.generation >= change.generation;
    }
    return there ? static_cast<double>(know) / static_cast<double>(there) : 1;
}

}  // namespace posy::simulate
