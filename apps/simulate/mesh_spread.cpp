#include "mesh_spread.hpp"

#include <algorithm>
#include <cmath>

namespace posy::simulate {

void mesh_spread::change(node_id who) {
    unpublished_.push_back({who, world_.net().find(who)->own_summary().generation()});
    world_.change(who);
}

void mesh_spread::run_until(std::uint64_t then, std::uint64_t round) {
    while (world_.net().now() < then) {
        world_.net().run_until(std::min(then, world_.net().now() + std::max<std::uint64_t>(1, round / 50)));
        look(round);
    }
}

void mesh_spread::look(std::uint64_t round) {
    std::erase_if(unpublished_, [&](const pending& p) {
        const auto* node = world_.net().find(p.who);
        if (!node) return true;
        if (node->own_summary().generation() == p.generation) return false;
        open_.push_back({world_.watch(p.who), {}, 0});
        return true;
    });
    std::erase_if(open_, [&](open_change& c) {
        // Whoever has gone may have told nobody.
        if (!world_.net().find(c.what.origin)) return true;
        const double share = world_.known_share(c.what);
        const double rounds =
            static_cast<double>(world_.net().now() - c.what.since) / static_cast<double>(round);
        while (c.reached < shares.size() && share >= shares[c.reached]) c.when[c.reached++] = rounds;
        if (c.reached < shares.size()) return false;
        finished_.push_back(c.when);
        return true;
    });
}

double mesh_spread::mean() const {
    double sum = 0;
    for (const times& t : finished_) sum += t.back();
    return sum / static_cast<double>(finished_.size());
}

double mesh_spread::standard_error() const {
    const auto n = static_cast<double>(finished_.size());
    double squares = 0;
    for (const times& t : finished_) squares += (t.back() - mean()) * (t.back() - mean());
    return std::sqrt(squares / (n - 1) / n);
}

double mesh_spread::longest() const {
    double most = 0;
    for (const times& t : finished_) most = std::max(most, t.back());
    return most;
}

plot mesh_spread::drawn(const theory::gossip_model& model) const {
    curve measured{"measured, mean", {}}, predicted{"predicted", {}};
    for (std::size_t i = 0; i < shares.size(); ++i) {
        double sum = 0;
        for (const times& t : finished_) sum += t[i];
        measured.points.emplace_back(sum / static_cast<double>(finished_.size()), shares[i]);
        predicted.points.emplace_back(theory::gossip_spread(model, shares[i]).rounds, shares[i]);
    }
    return {"How a change spreads", "rounds", "share of the nodes that know it", {measured, predicted}};
}

}  // namespace posy::simulate
