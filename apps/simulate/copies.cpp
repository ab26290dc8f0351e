#include "copies.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace posy::simulate {

copies::copies(std::uint64_t nodes, std::uint64_t objects, unsigned degree, double most_copies,
               std::mt19937_64& random)
    : neighbours_(nodes), holders_(objects), own_(nodes) {
    std::vector<node_id> circle(nodes);
    std::iota(circle.begin(), circle.end(), 0);
    for (unsigned i = 0; i < degree / 2; ++i) {
        for (std::size_t j = nodes; j-- > 1;) std::swap(circle[j], circle[random() % (j + 1)]);
        for (std::size_t j = 0; j < nodes; ++j) {
            const node_id a = circle[j], b = circle[(j + 1) % nodes];
            if (a == b || std::ranges::find(neighbours_[a], b) != neighbours_[a].end()) continue;
            neighbours_[a].push_back(b), neighbours_[b].push_back(a);
        }
    }
    for (std::uint64_t object = 0; object < objects; ++object) {
        const double number = most_copies / static_cast<double>(object + 1);
        for (auto left = static_cast<std::uint64_t>(std::max(1.0, number)); left > 0; --left) {
            const node_id at = random() % nodes;
            if (std::ranges::find(holders_[object], at) != holders_[object].end()) continue;
            holders_[object].push_back(at);
            own_[at].push_back(object);
        }
        std::ranges::sort(holders_[object]);
    }
}

bool copies::holds(node_id node, std::uint64_t object) const {
    return std::ranges::binary_search(holders_[object], node);
}

unsigned copies::distance(node_id from, std::uint64_t object, unsigned most) const {
    const auto& holders = holders_[object];
    std::vector<node_id> ring{from};
    std::set<node_id> seen{from};
    for (unsigned steps = 0; steps <= most; ++steps) {
        std::vector<node_id> next;
        for (const node_id at : ring) {
            if (std::ranges::binary_search(holders, at)) return steps;
            for (const node_id other : neighbours_[at]) {
                if (seen.insert(other).second) next.push_back(other);
            }
        }
        ring = std::move(next);
    }
    return most + 1;
}

std::vector<std::vector<node_id>> copies::behind(node_id from, node_id to, unsigned depth) const {
    std::set<std::pair<node_id, node_id>> edges{{from, to}};
    std::vector<std::vector<node_id>> levels;
    for (unsigned i = 0; i < depth; ++i) {
        std::set<node_id> here;
        std::set<std::pair<node_id, node_id>> next;
        for (const auto& [back, at] : edges) {
            here.insert(at);
            for (const node_id other : neighbours_[at]) {
                if (other != back) next.insert({at, other});
            }
        }
        levels.emplace_back(here.begin(), here.end());
        edges = std::move(next);
    }
    return levels;
}

}  // namespace posy::simulate
