// Loops found by a filter in the packet (posy/packet/loop_filter.hpp): ways without a loop, ways that end in
// one, and multicast over trees and over graphs in which copies come back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "posy/packet/loop_filter.hpp"
#include "posy/theory/loops.hpp"
#include "systems.hpp"

namespace posy::simulate {
namespace {

using packets::loop_filter;
using packets::loop_mask;
using packets::loop_network;

constexpr unsigned lengths[] = {8, 16, 32, 64}, sizes[] = {64, 128, 256};

// The node numbers of a way are drawn from 2^64, so that all are different and no two ways share one.
figure false_loops(const loop_network& network, unsigned hops, std::uint64_t ways, std::mt19937_64& random) {
    std::uint64_t stopped = 0;
    for (std::uint64_t way = 0; way < ways; ++way) {
        loop_filter filter;
        for (unsigned hop = 0; hop < hops; ++hop)
            if (!filter.enter(*loop_mask::make(network, random()))) {
                ++stopped;
                break;
            }
    }
    const double n = static_cast<double>(ways);
    const double odds = theory::false_loop_odds(hops, network.bits, network.mask_bits);
    return {fmt::format("false loop: {} hops, {} bits, {} per mask", hops, network.bits, network.mask_bits),
            static_cast<double>(stopped) / n, odds, std::sqrt(odds * (1 - odds) / n), ""};
}

// A way of some nodes into a circle of others. The packet must stop, at the latest where it comes back.
figure true_loops(std::uint64_t ways, std::mt19937_64& random) {
    std::uint64_t found = 0;
    for (std::uint64_t way = 0; way < ways; ++way) {
        const unsigned before = random() % 16, circle = 1 + random() % 16;
        const loop_network network{.bits = sizes[random() % 3], .mask_bits = 4, .seed = random()};
        std::vector<loop_mask> masks;
        for (unsigned i = 0; i < before + circle; ++i) masks.push_back(*loop_mask::make(network, random()));
        loop_filter filter;
        bool going = true;
        for (unsigned hop = 0; going && hop <= before + circle; ++hop)
            going = filter.enter(masks[hop < before + circle ? hop : before]);
        found += !going;
    }
    return {"true loops noticed at the first return",
            static_cast<double>(found) / static_cast<double>(ways),
            1,
            {},
            ""};
}

// The interfaces of each node that belong to the group, as the nodes that they lead to.
using graph = std::vector<std::vector<unsigned>>;

graph random_tree(unsigned nodes, std::mt19937_64& random) {
    graph g(nodes);
    for (unsigned node = 1; node < nodes; ++node) {
        const auto parent = static_cast<unsigned>(random() % node);
        g[parent].push_back(node);
        g[node].push_back(parent);
    }
    return g;
}

// A circle of all nodes and as many chords again as half of them: every node has two or three links.
graph random_mesh(unsigned nodes, std::mt19937_64& random) {
    graph g(nodes);
    const auto link = [&](unsigned a, unsigned b) {
        if (a == b || std::ranges::count(g[a], b) != 0) return;
        g[a].push_back(b);
        g[b].push_back(a);
    };
    for (unsigned node = 0; node < nodes; ++node) link(node, (node + 1) % nodes);
    std::vector<unsigned> order(nodes);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::shuffle(order, random);
    for (unsigned i = 0; i + 1 < nodes; i += 2) link(order[i], order[i + 1]);
    return g;
}

// How many copies nodes accept, when node 0 sends one packet to the group.
std::uint64_t copies_accepted(const graph& g, const loop_network& network) {
    std::vector<loop_mask> masks;
    for (unsigned node = 0; node < g.size(); ++node) masks.push_back(*loop_mask::make(network, node));
    struct copy {
        unsigned at, from;
        loop_filter filter;
    };
    std::vector<copy> on_their_way{{0, ~0u, {}}};
    std::uint64_t accepted = 0;
    while (!on_their_way.empty()) {
        const copy next = on_their_way.back();
        on_their_way.pop_back();
        accepted += next.filter.enter(masks[next.at], g[next.at], next.from,
                                      [&](unsigned to, const loop_filter& filter) {
                                          on_their_way.push_back({to, next.at, filter});
                                      });
    }
    return accepted;
}

// The number of ways from node 0 that visit no node twice, by their number of nodes: where copies go if
// nothing is mistaken for a loop.
std::map<unsigned, double> simple_ways(const graph& g) {
    std::map<unsigned, double> ways;
    std::vector<bool> visited(g.size());
    const std::function<void(unsigned, unsigned)> walk = [&](unsigned node, unsigned length) {
        ++ways[length];
        visited[node] = true;
        for (const unsigned next : g[node])
            if (!visited[next]) walk(next, length + 1);
        visited[node] = false;
    };
    walk(0, 1);
    return ways;
}

// What nodes accept of one packet without a filter, when a copy ends after so many nodes (its TTL): one
// number per directed link, the copies that travel it.
double copies_by_ttl(const graph& g, unsigned ttl) {
    std::map<std::pair<unsigned, unsigned>, double> travelling;
    for (const unsigned to : g[0]) travelling[{0, to}] = 1;
    double accepted = 1;
    for (unsigned hop = 1; hop < ttl; ++hop) {
        std::map<std::pair<unsigned, unsigned>, double> next;
        for (const auto& [link, copies] : travelling) {
            accepted += copies;
            for (const unsigned to : g[link.second])
                if (to != link.first) next[{link.second, to}] += copies;
        }
        travelling.swap(next);
    }
    return accepted;
}

// Copies accepted per packet, over packets with masks of their own in one graph.
figure multicast(const std::string& name, const graph& g, loop_network network, std::uint64_t packets,
                 std::mt19937_64& random) {
    double sum = 0, squares = 0, predicted = 0;
    for (const auto& [length, ways] : simple_ways(g))
        predicted += ways * (1 - theory::false_loop_odds(length, network.bits, network.mask_bits));
    for (std::uint64_t i = 0; i < packets; ++i) {
        network.seed = random();
        const auto copies = static_cast<double>(copies_accepted(g, network));
        sum += copies;
        squares += copies * copies;
    }
    const double n = static_cast<double>(packets), mean = sum / n;
    return {name, mean, predicted, std::sqrt(std::max(0.0, squares / n - mean * mean) / n), ""};
}

plot odds_by_length() {
    plot p{"Odds that a way without a loop seems to have one", "hops", "odds", {}};
    for (const unsigned bits : sizes) {
        curve c{fmt::format("{} bits", bits), {}};
        for (unsigned hops = 2; hops <= 64; hops += 2)
            c.points.emplace_back(hops,
                                  theory::false_loop_odds(hops, bits, theory::best_mask_bits(hops, bits)));
        p.curves.push_back(c);
    }
    return p;
}

}  // namespace

report run_loops(const options& o) {
    const std::uint64_t ways = number_of("--queries", o.queries, 200'000, 1);
    const auto nodes = static_cast<unsigned>(number_of("--nodes", o.nodes, 1000, 2, 100'000));
    std::mt19937_64 random(o.seed);
    report r{
        "loops", fmt::format("{} ways per row, trees of {} nodes, seed {}", ways, nodes, o.seed), {}, {}};
    for (const unsigned hops : lengths)
        for (const unsigned bits : sizes)
            for (const unsigned k : std::set{2u, theory::best_mask_bits(hops, bits)})
                r.figures.push_back(
                    false_loops({.bits = bits, .mask_bits = k, .seed = random()}, hops, ways, random));
    r.figures.push_back(true_loops(ways, random));
    const std::uint64_t packets = std::max<std::uint64_t>(ways / 400, 200);
    const graph tree = random_tree(nodes, random), mesh = random_mesh(16, random);
    for (const unsigned bits : sizes)
        r.figures.push_back(multicast(fmt::format("nodes of the tree reached, {} bits", bits), tree,
                                      {.bits = bits, .mask_bits = 3}, packets, random));
    for (const unsigned bits : sizes)
        r.figures.push_back(multicast(fmt::format("copies accepted among 16 nodes with loops, {} bits", bits),
                                      mesh, {.bits = bits, .mask_bits = 3}, packets, random));
    r.figures.push_back(
        {"copies accepted there with a TTL of 64 alone", copies_by_ttl(mesh, 64), {}, {}, ""});
    r.plots.push_back(odds_by_length());
    return r;
}

}  // namespace posy::simulate
