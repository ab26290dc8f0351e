#include "systems.hpp"

#include <algorithm>

namespace posy::simulate {

std::span<const system> systems() {
    const std::vector<std::string> counts{"--nodes", "--objects", "--queries"}, few{"--nodes", "--queries"};
    const auto with = [](std::vector<std::string> some, std::initializer_list<std::string> more) {
        some.insert(some.end(), more);
        return some;
    };
    const auto lossy = with(counts, {"--loss"}), all_of_them = with(lossy, {"--churn"});
    // One line per system: its name, what it is, its options, its function.
    static const std::vector<system> all{
        {"mesh", "gossip mesh: every node keeps every other node's summary (--churn: with nodes replaced)",
         all_of_them, run_mesh},
        {"ranking",
         "ranked search over the keywords of a mesh, with the documents of /usr/share/doc",
         {"--nodes", "--loss", "--texts"},
         run_ranking},
        {"groups", "groups of nodes: leaders gossip the union of their members' filters", all_of_them,
         run_groups},
        {"tree", "a tree of nodes: requests go up until a filter says yes, and down from there", all_of_them,
         run_tree},
        {"attenuated", "for each neighbour a filter per distance: requests go to the nearest copy, or home",
         all_of_them, run_attenuated},
        {"geographic", "a square divided in four, filters for siblings, hosts that move", lossy,
         run_geographic},
        {"keywords", "an inverted index spread over nodes, conjunctive queries by filters",
         with(lossy, {"--texts"}), run_keywords},
        {"multicast", "a tree of routers with a filter of groups per interface", counts, run_multicast},
        {"loops", "packets with a small filter of the nodes they have visited, by which loops are noticed",
         few, run_loops},
        {"blue", "Stochastic Fair Blue, drop-tail and RED, with a flow that does not yield", few, run_blue},
        {"traceback", "routers that keep digests of packets, and the way of a packet back to its source",
         counts, run_traceback},
    };
    return all;
}

const system* find_system(std::string_view name) {
    const auto all = systems();
    const auto found = std::ranges::find(all, name, &system::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace posy::simulate
