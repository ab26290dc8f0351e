#include "systems.hpp"

#include <algorithm>

namespace posy::simulate {

std::span<const system> systems() {
    // One line per system: its name, what it is, its function.
    static const std::vector<system> all{
        {"mesh", "gossip mesh: every node keeps every other node's summary (--churn: with nodes replaced)",
         run_mesh},
        {"tree", "a tree of nodes: requests go up until a filter says yes, and down from there", run_tree},
        {"attenuated", "for each neighbour a filter per distance: requests go to the nearest copy, or home",
         run_attenuated},
    };
    return all;
}

const system* find_system(std::string_view name) {
    const auto all = systems();
    const auto found = std::ranges::find(all, name, &system::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace posy::simulate
