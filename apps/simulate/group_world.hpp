// The simulated network of groups under leaders: nodes, their objects, and who leads whom.
//
// At first node n ≤ √nodes leads, and the others are spread evenly among the leaders. Thread safety: none.
#pragma once

#include <random>
#include <unordered_map>
#include <vector>

#include "holdings.hpp"
#include "network.hpp"
#include "posy/overlay/group_node.hpp"
#include "posy/shared_filters.hpp"
#include "report.hpp"

namespace posy::simulate {

using overlay::group_node;
using overlay::outbox;

class group_world {
  public:
    static constexpr double latency = 50;  // ms

    group_world(std::uint64_t nodes, std::uint64_t objects, const options&);

    std::uint64_t groups() const { return groups_; }
    const overlay::group_settings& how() const { return how_; }
    network<group_node>& net() { return net_; }
    const holdings& truth() const { return truth_; }
    const std::vector<node_id>& nodes() const { return truth_.nodes(); }
    std::mt19937_64& random() { return random_; }
    node_id random_node() { return nodes()[below(nodes().size())]; }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    // The leader whom a node would ask.
    node_id leader_of(node_id who);
    std::uint64_t leaders();
    // The false-positive rate of each leader's union.
    std::unordered_map<node_id, double> rates();
    // One of its objects makes room for another.
    void change(node_id who);
    // For ever, with its objects.
    void crash(node_id who);
    // For a while: come_back() brings it and its objects back, as a member of whom it knew to lead. If that
    // one is down itself, a random node shows it the way.
    void fail(node_id who);
    void come_back(node_id who, std::uint32_t life);
    // Every leader knows every other in its present version, and every member's leader has all of it.
    bool settled();
    // In seconds, an hour at most.
    double run_until_settled();

    digest digest_of(std::uint64_t object) const;

  private:
    void join(node_id who, std::uint64_t objects);

    std::uint64_t groups_;
    overlay::group_settings how_;
    std::mt19937_64 random_;
    shared_filters pool_;
    network<group_node> net_;
    holdings truth_;
    std::unordered_map<node_id, node_id> led_by_;  // those that are down: the leader, or the heir of a leader
};

}  // namespace posy::simulate
