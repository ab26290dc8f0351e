// Who truly has which object: what a simulation compares its overlay with. Objects are numbers, and every
// object has one holder. Thread safety: none.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "network.hpp"

namespace posy::simulate {

class holdings {
  public:
    // A node comes, with nothing.
    void enter(node_id who) { nodes_.push_back(who), objects_[who]; }
    void leave(node_id who) {
        for (const std::uint64_t object : objects_.at(who)) holder_.erase(object);
        objects_.erase(who);
        std::erase(nodes_, who);
    }
    // A new object of this node.
    std::uint64_t add(node_id who) {
        objects_.at(who).push_back(++last_);
        holder_[last_] = who;
        return last_;
    }
    // It loses one of its objects.
    std::uint64_t drop(node_id who, std::size_t index) {
        auto& theirs = objects_.at(who);
        std::swap(theirs[index], theirs.back());
        const std::uint64_t object = theirs.back();
        theirs.pop_back();
        holder_.erase(object);
        return object;
    }

    const std::vector<node_id>& nodes() const { return nodes_; }
    bool contains(node_id who) const { return objects_.contains(who); }
    const std::vector<std::uint64_t>& objects_of(node_id who) const { return objects_.at(who); }
    bool has(node_id who, std::uint64_t object) const {
        const auto found = holder_.find(object);
        return found != holder_.end() && found->second == who;
    }

  private:
    std::vector<node_id> nodes_;
    std::unordered_map<node_id, std::vector<std::uint64_t>> objects_;
    std::unordered_map<std::uint64_t, node_id> holder_;
    std::uint64_t last_ = 0;
};

}  // namespace posy::simulate
