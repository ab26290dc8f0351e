#include "mesh_world.hpp"

namespace posy::simulate {

node_id mesh_world::join(std::uint64_t objects) {
    const node_id who = ++last_node_;
    auto set = *counting_filter::make(shape_);
    std::vector<std::uint64_t>& mine = objects_[who];
    for (std::uint64_t i = 0; i < objects; ++i) {
        mine.push_back(++last_object_);
        holder_[last_object_] = who;
        set.insert(digest_of(last_object_));
    }
    auto node = *overlay::gossip_node::make(who, "node-" + std::to_string(who), std::move(set), how_,
                                            random_(), net_.now(), &pool_);
    for (int i = 0; i < 3 && !nodes_.empty(); ++i) node.add_contact(random_node());
    net_.join(who, std::move(node));
    nodes_.push_back(who);
    return who;
}

void mesh_world::remove_node(node_id who) {
    for (const std::uint64_t object : objects_.at(who)) holder_.erase(object);
    objects_.erase(who);
    std::erase(nodes_, who);
}

void mesh_world::crash(node_id who) {
    remove_node(who);
    net_.crash(who);
}

void mesh_world::leave(node_id who) {
    net_.at(who, [](overlay::gossip_node& node, std::uint64_t now, overlay::outbox& out) {
        node.leave(now, out);
    });
    remove_node(who);
    net_.crash(who);
}

void mesh_world::change(node_id who) {
    auto& mine = objects_.at(who);
    auto& node = *net_.find(who);
    if (!mine.empty()) {
        std::swap(mine[below(mine.size())], mine.back());
        node.remove(digest_of(mine.back()));
        holder_.erase(mine.back());
        mine.pop_back();
    }
    mine.push_back(++last_object_);
    holder_[last_object_] = who;
    node.insert(digest_of(last_object_));
}

bool mesh_world::has(node_id who, std::uint64_t object) const {
    const auto found = holder_.find(object);
    return found != holder_.end() && found->second == who;
}

bool mesh_world::all_agree() {
    const std::uint64_t hash = net_.find(nodes_.front())->directory().hash();
    for (const node_id who : nodes_) {
        const auto& directory = net_.find(who)->directory();
        if (directory.live().size() != nodes_.size() || directory.hash() != hash) return false;
    }
    // The same live members everywhere, as many as there are nodes: they are the nodes.
    for (const node_id who : net_.find(nodes_.front())->directory().live()) {
        if (!objects_.contains(who)) return false;
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
    return {origin, net_.find(origin)->own_summary().generation(), net_.now(), nodes_};
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
