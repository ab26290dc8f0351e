// How fast changes spread through a mesh: when which share of the nodes knew each change, beside theory.
#pragma once

#include <array>
#include <vector>

#include "mesh_world.hpp"
#include "posy/theory/gossip.hpp"
#include "report.hpp"

namespace posy::simulate {

class mesh_spread {
  public:
    explicit mesh_spread(mesh_world& world) : world_(world) {}
    static constexpr std::array shares{0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};

    // The node changes now; the change counts from when the node publishes it.
    void change(node_id);
    // Until then, looking fifty times in a round.
    void run_until(std::uint64_t then, std::uint64_t round);

    std::uint64_t changes() const { return finished_.size(); }
    bool all_finished() const { return unpublished_.empty() && open_.empty(); }
    // In rounds, until 99 % knew: their mean, the deviation of the mean, and the longest.
    double mean() const;
    double standard_error() const;
    double longest() const;
    plot drawn(const theory::gossip_model&) const;

  private:
    using times = std::array<double, shares.size()>;  // rounds until each share knew
    struct open_change {
        spreading_change what;
        times when;
        std::size_t reached;
    };
    struct pending {
        node_id who;
        std::uint64_t generation;  // before the change
    };
    void look(std::uint64_t round);

    mesh_world& world_;
    std::vector<pending> unpublished_;
    std::vector<open_change> open_;
    std::vector<times> finished_;
};

}  // namespace posy::simulate
