#include "systems.hpp"

#include <algorithm>

namespace posy::simulate {

std::span<const system> systems() {
    // One line per system: its name, what it is, its function.
    static const std::vector<system> all{
        {"mesh", "gossip mesh: every node keeps every other node's summary (--churn: with nodes replaced)",
         run_mesh},
        {"ranking", "ranked search over the keywords of a mesh, with the documents of /usr/share/doc",
         run_ranking},
        {"groups", "groups of nodes: leaders gossip the union of their members' filters", run_groups},
        {"tree", "a tree of nodes: requests go up until a filter says yes, and down from there", run_tree},
        {"attenuated", "for each neighbour a filter per distance: requests go to the nearest copy, or home",
         run_attenuated},
        {"geographic", "a square divided in four, filters for siblings, hosts that move", run_geographic},
        {"keywords", "an inverted index spread over nodes, conjunctive queries by filters", run_keywords},
        {"multicast", "a tree of routers with a filter of groups per interface", run_multicast},
        {"loops", "packets with a small filter of the nodes they have visited, by which loops are noticed",
         run_loops},
        {"blue", "Stochastic Fair Blue, drop-tail and RED, with a flow that does not yield", run_blue},
        {"traceback", "routers that keep digests of packets, and the way of a packet back to its source",
         run_traceback},
    };
    return all;
}

const system* find_system(std::string_view name) {
    const auto all = systems();
    const auto found = std::ranges::find(all, name, &system::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace posy::simulate
