// The gossip mesh with churn: nodes are replaced by new ones, half of them without a word, while objects
// change; then the network is divided in two for twenty minutes, and heals.
#include <fmt/format.h>

#include <cmath>

#include "mesh.hpp"
#include "mesh_costs.hpp"
#include "mesh_spread.hpp"

namespace posy::simulate {
namespace {

constexpr double latency = 50;   // ms
constexpr double slower = 0.01;  // odds that the slowest change takes longer than predicted
constexpr std::uint64_t hour = 3'600'000, division = hour / 3, change_every = 30'000;

struct division_state {
    bool divided = false;
    static bool side(node_id who) { return who % 2 != 0; }
};

struct churned {
    std::uint64_t joined = 0, left = 0, crashed = 0, changed = 0;
};

// One hour in which each node has the same probability of being replaced in each second.
churned live_an_hour(mesh_world& world, mesh_spread& spread, const overlay::gossip_settings& how,
                     double churn, std::uint64_t objects_each) {
    churned sum;
    const auto n = static_cast<double>(world.nodes().size());
    const double mean_wait = static_cast<double>(hour) / (churn * n);
    const auto draw = [&] {
        return static_cast<std::uint64_t>(1 - mean_wait * std::log(1 - world.uniform()));
    };
    const std::uint64_t end = world.net().now() + hour;
    std::uint64_t next_loss = world.net().now() + draw(), next_change = world.net().now();
    while (world.net().now() < end) {
        spread.run_until(std::min({end, next_loss, next_change}), how.round);
        if (world.net().now() >= next_loss) {
            next_loss += draw();
            const node_id who = world.random_node();
            const bool polite = world.uniform() < 0.5;
            polite ? world.leave(who) : world.crash(who);
            ++(polite ? sum.left : sum.crashed);
            world.join(objects_each);
            ++sum.joined;
        }
        if (world.net().now() >= next_change) {
            next_change += change_every;
            spread.change(world.random_node());
            ++sum.changed;
        }
    }
    return sum;
}

// One round in ten tries somebody who is gone; and those that have crashed are greeted until it is noticed.
double wasted_share(const overlay::gossip_settings& how, double nodes, double churn) {
    const double noticing = how.suspicion * std::log(nodes) * static_cast<double>(how.round);
    return 1.0 / how.revive_every + churn / 2 * noticing / static_cast<double>(hour);
}

double predicted_bytes(const theory::gossip_model& model, const theory::gossip_course& course,
                       const mesh_costs& costs, const overlay::gossip_settings& how, const churned& c) {
    const auto joined = static_cast<double>(c.joined), changed = static_cast<double>(c.changed);
    const auto gone = static_cast<double>(c.left + c.crashed);
    theory::gossip_load load{.rounds = static_cast<double>(hour) / static_cast<double>(how.round),
                             .greeting = costs.greeting,
                             .reply = costs.reply,
                             .version = costs.version,
                             .rumours = joined + gone + changed};
    // Everybody fetches every change and every newcomer, and every newcomer fetches everybody.
    load.fetched = changed * costs.record(costs.delta) + 2 * joined * costs.record(costs.whole);
    // Greetings to those that are gone are tried again.
    return theory::gossip_bytes_per_hour(model, course, load) +
           model.wasted * load.rounds * how.tries * costs.revival;
}

std::uint64_t strangers(mesh_world& world) {
    std::uint64_t sum = 0;
    for (const node_id who : world.nodes()) {
        for (const node_id other : world.net().find(who)->directory().live())
            sum += division_state::side(other) != division_state::side(who);
    }
    return sum;
}

void divide_and_heal(report& r, mesh_world& world, division_state& state,
                     const overlay::gossip_settings& how) {
    state.divided = true;
    const std::uint64_t began = world.net().now();
    for (int i = 0; i < 20; ++i) {
        world.net().run_until(began + division * static_cast<std::uint64_t>(i) / 20);
        world.change(world.random_node());
    }
    world.net().run_until(began + division);
    r.figures.push_back({"members of the other part, at its end",
                         static_cast<double>(strangers(world)) / static_cast<double>(world.nodes().size()),
                         0.0});
    state.divided = false;
    const std::uint64_t healed = world.net().now();
    const auto agreed = world.run_until_agreed(healed + 2000 * how.round);
    r.figures.push_back({"all agree after it heals (1: yes)", agreed ? 1.0 : 0.0, 1.0});
    if (agreed)
        r.figures.push_back(
            {"  rounds until then", static_cast<double>(*agreed - healed) / static_cast<double>(how.round)});
    std::uint64_t found = 0, asked = 0;
    for (int i = 0; i < 5000; ++i) {
        const node_id asker = world.random_node(), holder = world.random_node();
        if (asker == holder) continue;
        const auto& theirs = world.truth().objects_of(holder);
        const std::uint64_t object = theirs[world.below(theirs.size())];
        const auto who = world.net().find(asker)->who(mesh_world::name_of(object));
        found += std::ranges::find(who, holder) != who.end();
        ++asked;
    }
    r.figures.push_back({"  lookups that find an existing object",
                         static_cast<double>(found) / static_cast<double>(asked), 1.0});
}

}  // namespace

report run_mesh_with_churn(const options& o) {
    const std::uint64_t nodes = number_of("--nodes", o.nodes, 500, 2);
    const std::uint64_t objects = number_of("--objects", o.objects, 100 * nodes, 1);
    const std::uint64_t each = std::max<std::uint64_t>(1, objects / nodes);
    const auto how = mesh_settings();
    division_state state;
    links between{.loss = o.loss};
    between.open = [&state](node_id a, node_id b, std::uint64_t) {
        return !state.divided || division_state::side(a) == division_state::side(b);
    };
    mesh_world world(mesh_geometry(static_cast<double>(each)), how, between, o.seed);
    report r{"mesh",
             fmt::format("{} nodes, {} objects, {:.0f} % replaced per hour, loss {:.0f} %, seed {}", nodes,
                         objects, 100 * o.churn, 100 * o.loss, o.seed),
             {},
             {}};
    for (std::uint64_t i = 0; i < nodes; ++i) {
        world.join(each);
        world.net().run_until(world.net().now() + 100);
    }
    world.run_until_agreed(world.net().now() + 2000 * how.round);

    const auto n = static_cast<double>(nodes);
    auto model = mesh_model(how, n, o.loss, latency);
    model.wasted = wasted_share(how, n, o.churn);
    const auto course = theory::gossip_spread(model, 0.99);
    const mesh_costs costs(world.shape(), static_cast<double>(each), n);
    mesh_spread spread(world);
    const std::uint64_t before = world.net().sent().bytes;
    const churned c = live_an_hour(world, spread, how, o.churn, each);
    const double bytes = static_cast<double>(world.net().sent().bytes - before) / n;
    spread.run_until(world.net().now() + 20 * how.round, how.round);

    r.figures.push_back(
        {"nodes replaced in the hour", static_cast<double>(c.joined), o.churn * n, std::sqrt(o.churn * n)});
    r.figures.push_back(
        {"rounds until 99 % know a change", spread.mean(), course.rounds, spread.standard_error(), "rounds"});
    const auto changes = static_cast<double>(spread.changes());
    const double bound = theory::gossip_slowest(model, 0.99, changes, slower);
    r.figures.push_back(
        {fmt::format("  the slowest of {}: at most, in {:g} % of runs", changes, 100 * (1 - slower)),
         spread.longest(),
         bound,
         {},
         "rounds"});
    r.figures.push_back(
        {"bytes per node and hour", bytes, predicted_bytes(model, course, costs, how, c), {}, "bytes"});
    world.run_until_agreed(world.net().now() + 2000 * how.round);
    divide_and_heal(r, world, state, how);
    r.plots.push_back(spread.drawn(model));
    return r;
}

}  // namespace posy::simulate
