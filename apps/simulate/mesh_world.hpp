// The gossip mesh in simulated time: nodes with objects, who truly has which, and how far a change has come.
//
// Memory: the summaries of all nodes once, as they share what they decode, and 300 bytes for each pair of
// nodes. Thread safety: none.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "holdings.hpp"
#include "network.hpp"
#include "posy/overlay/gossip_node.hpp"
#include "posy/shared_filters.hpp"

namespace posy::simulate {

// A change that nodes hear of: a generation of one node's summary.
struct spreading_change {
    node_id origin;
    std::uint64_t generation, since;
    std::vector<node_id> audience;  // the nodes that were there
};

class mesh_world {
  public:
    mesh_world(const posy::geometry& shape, const overlay::gossip_settings& how, links between,
               std::uint64_t seed)
        : shape_(shape), how_(how), random_(seed), net_(std::move(between), seed + 1) {}
    mesh_world(const mesh_world&) = delete;
    mesh_world& operator=(const mesh_world&) = delete;

    // A new node with so many new objects, which knows three others.
    node_id join(std::uint64_t objects);
    void crash(node_id);
    void leave(node_id);
    // A random node gets an object and loses one.
    void change(node_id);

    network<overlay::gossip_node>& net() { return net_; }
    const holdings& truth() const { return truth_; }
    const std::vector<node_id>& nodes() const { return truth_.nodes(); }
    node_id random_node() { return nodes()[below(nodes().size())]; }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    const posy::geometry& shape() const { return shape_; }

    // Every node knows exactly the nodes that there are, in the same versions.
    bool all_agree();
    // When all agree, looking every tenth of a round; nothing if that is not so by then.
    std::optional<std::uint64_t> run_until_agreed(std::uint64_t latest);

    // The change that a node published last, and the share of its audience, as far as it is still there, that
    // knows it.
    spreading_change watch(node_id origin);
    double known_share(const spreading_change&);

    static std::string name_of(std::uint64_t object) { return "object " + std::to_string(object); }

  private:
    digest digest_of(std::uint64_t object) const {
        return hasher(shape_.hash, shape_.seed)(std::string_view(name_of(object)));
    }

    posy::geometry shape_;
    overlay::gossip_settings how_;
    std::mt19937_64 random_;
    shared_filters pool_;
    network<overlay::gossip_node> net_;
    holdings truth_;
    std::uint64_t last_node_ = 0;
};

}  // namespace posy::simulate
