// The gossip mesh at rest: all nodes join, objects change, and every object is looked up through the
// summaries. With churn it is another experiment (mesh_churn.cpp).
#include "mesh.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mesh_costs.hpp"
#include "mesh_spread.hpp"
#include "posy/theory.hpp"

namespace posy::simulate {
namespace {

constexpr double latency = 50;                                           // ms
constexpr double question_bytes = 1 + 8 + 16, answer_bytes = 1 + 8 + 1;  // asking a node for an object

struct lookups {
    std::uint64_t asked = 0, found = 0, false_forwards = 0, absent_forwards = 0;
    double predicted = 0, absent_predicted = 0, variance = 0, absent_variance = 0;
};

// What a node that knows the number of everybody's objects expects.
double rate_at(const mesh_world& world, node_id who) {
    return theory::spread_rate(static_cast<double>(world.truth().objects_of(who).size()),
                               static_cast<double>(world.shape().bits), world.shape().hashes);
}

void look_up(mesh_world& world, std::uint64_t queries, lookups& sum) {
    double all = 0, squares = 0;
    for (const node_id who : world.nodes()) {
        const double rate = rate_at(world, who);
        all += rate, squares += rate * rate;
    }
    for (std::uint64_t i = 0; i < queries; ++i) {
        const node_id asker = world.random_node(), holder = world.random_node();
        if (asker == holder) continue;
        const auto& theirs = world.truth().objects_of(holder);
        const std::uint64_t object = theirs[world.below(theirs.size())];
        ++sum.asked;
        for (const node_id who : world.net().find(asker)->who(mesh_world::name_of(object))) {
            world.truth().has(who, object) ? ++sum.found : ++sum.false_forwards;
        }
        const std::string absent = "absent " + std::to_string(i);
        sum.absent_forwards += world.net().find(asker)->who(absent).size();
        const double mine = rate_at(world, asker), other = rate_at(world, holder);
        sum.absent_predicted += all - mine;
        sum.predicted += all - mine - other;
        sum.absent_variance += all - mine - (squares - mine * mine);
        sum.variance += all - mine - other - (squares - mine * mine - other * other);
    }
}

void report_lookups(report& r, const lookups& sum) {
    const auto n = static_cast<double>(sum.asked);
    const auto per_query = [n](std::uint64_t count) { return static_cast<double>(count) / n; };
    r.figures.push_back({"lookups that find an existing object", per_query(sum.found), 1.0});
    r.figures.push_back({"false forwards per lookup of an existing one", per_query(sum.false_forwards),
                         sum.predicted / n, std::sqrt(sum.variance) / n});
    r.figures.push_back({"false forwards per lookup of an absent one", per_query(sum.absent_forwards),
                         sum.absent_predicted / n, std::sqrt(sum.absent_variance) / n});
    const double pair = question_bytes + answer_bytes;
    r.figures.push_back({"bytes per lookup", pair * per_query(sum.found + sum.false_forwards),
                         pair * (1 + sum.predicted / n), pair * std::sqrt(sum.variance) / n, "bytes"});
}

struct period {
    double rounds, bytes;
};

template <class During>
period measure(mesh_world& world, std::uint64_t round, const During& during) {
    const std::uint64_t began = world.net().now(), before = world.net().sent().bytes;
    during();
    return {static_cast<double>(world.net().now() - began) / static_cast<double>(round),
            static_cast<double>(world.net().sent().bytes - before)};
}

// Changes beside an idle time of the same length: what a change costs.
void report_changes(report& r, mesh_world& world, const overlay::gossip_settings& how, double objects,
                    double loss) {
    constexpr int changes = 200;
    const auto n = static_cast<double>(world.nodes().size());
    const auto model = mesh_model(how, n, loss, latency);
    const auto course = theory::gossip_spread(model, 0.99);
    const mesh_costs costs(world.shape(), objects, n);
    mesh_spread spread(world);
    const period busy = measure(world, how.round, [&] {
        for (int i = 0; i < changes; ++i) {
            spread.change(world.random_node());
            spread.run_until(world.net().now() + how.round * 2 / 5, how.round);
        }
        while (!spread.all_finished()) spread.run_until(world.net().now() + how.round, how.round);
        world.run_until_agreed(world.net().now() + 1000 * how.round);
    });
    const period idle =
        measure(world, how.round, [&] { world.net().run_until(world.net().now() + 50 * how.round); });
    theory::gossip_load load{
        .rounds = 1, .greeting = costs.greeting, .reply = costs.reply, .version = costs.version};
    const double quiet = theory::gossip_bytes_per_hour(model, course, load);
    load.rounds = busy.rounds, load.rumours = changes, load.fetched = changes * costs.record(costs.delta);
    const double loud = theory::gossip_bytes_per_hour(model, course, load);
    const double idle_per_round = idle.bytes / idle.rounds;
    r.figures.push_back(
        {"rounds until 99 % know a change", spread.mean(), course.rounds, spread.standard_error(), "rounds"});
    r.figures.push_back({"idle bytes per node and round", idle_per_round / n, quiet, {}, "bytes"});
    r.figures.push_back({"bytes per change, per node",
                         (busy.bytes - idle_per_round * busy.rounds) / changes / n,
                         (loud - quiet * busy.rounds) / changes,
                         {},
                         "bytes"});
    const auto whole =
        static_cast<double>(world.net().find(world.nodes().front())->own_summary().full()->size());
    r.figures.push_back({"  a whole filter instead of the delta, alone", whole, costs.whole, {}, "bytes"});
    r.plots.push_back(spread.drawn(model));
}

}  // namespace

posy::geometry mesh_geometry(double objects_per_node) {
    const auto bits = static_cast<std::uint64_t>(std::ceil(24 * std::max(1.0, objects_per_node)));
    return {round_up_bits(bits, 6, layout_id::spread), 6, layout_id::spread};
}

overlay::gossip_settings mesh_settings() {
    overlay::gossip_settings how;
    how.publish.change = 0;  // every change is told in the next round
    return how;
}

report run_mesh(const options& o) {
    if (o.churn > 0) return run_mesh_with_churn(o);
    const std::uint64_t nodes = number_of("--nodes", o.nodes, 1000, 2);
    const std::uint64_t objects = number_of("--objects", o.objects, 1'000'000, 1);
    const std::uint64_t queries = number_of("--queries", o.queries, 20'000, 1);
    const double each = static_cast<double>(objects) / static_cast<double>(nodes);
    const auto how = mesh_settings();
    mesh_world world(mesh_geometry(each), how, {.loss = o.loss}, o.seed);
    report r{"mesh",
             fmt::format("{} nodes, {} objects, {} lookups, seed {}", nodes, objects, queries, o.seed),
             {},
             {}};
    for (std::uint64_t i = 0; i < nodes; ++i) {
        // As even as it can be, so that the objects are as many as were asked for.
        world.join(objects * (i + 1) / nodes - objects * i / nodes);
        world.net().run_until(world.net().now() + 100);
    }
    const std::uint64_t joined = world.net().now();
    const auto agreed = world.run_until_agreed(joined + 2000 * how.round);
    r.figures.push_back(
        {"rounds after the last join until all agree",
         agreed ? static_cast<double>(*agreed - joined) / static_cast<double>(how.round) : INFINITY});
    report_changes(r, world, how, each, o.loss);
    lookups sum;
    look_up(world, queries, sum);
    report_lookups(r, sum);
    return r;
}

}  // namespace posy::simulate
