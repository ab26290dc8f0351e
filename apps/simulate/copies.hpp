// What attenuated filters are simulated on: a random graph, objects with copies at random nodes, and the true
// distances between them.
//
// Every node has `degree` neighbours (as many circles through all nodes as half of that, each in random
// order). The object of rank r has most_copies/r copies, at least one. Immutable; const calls may run
// together.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "posy/overlay/mail.hpp"

namespace posy::simulate {

using overlay::node_id;

class copies {
  public:
    copies(std::uint64_t nodes, std::uint64_t objects, unsigned degree, double most_copies, std::mt19937_64&);

    const std::vector<node_id>& neighbours(node_id node) const { return neighbours_[node]; }
    const std::vector<node_id>& holders(std::uint64_t object) const { return holders_[object]; }  // ascending
    const std::vector<std::uint64_t>& objects_of(node_id node) const { return own_[node]; }
    bool holds(node_id, std::uint64_t object) const;

    // Steps to the nearest copy, or most + 1.
    unsigned distance(node_id from, std::uint64_t object, unsigned most) const;
    // The nodes behind a link, by hops, on ways that never turn back at once.
    std::vector<std::vector<node_id>> behind(node_id from, node_id to, unsigned depth) const;

  private:
    std::vector<std::vector<node_id>> neighbours_, holders_;
    std::vector<std::vector<std::uint64_t>> own_;
};

}  // namespace posy::simulate
