// Groups under leaders: members tell their leader, leaders gossip the unions; objects change, are looked up
// by all nodes, and some leaders crash. With churn, nodes fail and come back instead (group_churn.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "group_churn.hpp"
#include "group_world.hpp"
#include "mesh_costs.hpp"
#include "posy/theory.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

using overlay::group_kind;

constexpr std::uint64_t change_every = 2000;

// Lookups from random nodes, of objects that others have or that nobody has.
class lookups {
  public:
    lookups(group_world& w, std::uint64_t queries, bool existing) : world_(w), rates_(w.rates()) {
        for (const auto& each : rates_) all_ += each.second;
        const auto misled = misled_so_far();
        const std::uint64_t bytes = bytes_so_far();
        constexpr std::uint64_t at_a_time = 1000;
        for (std::uint64_t done = 0; done < queries; done += at_a_time)
            ask(std::min(at_a_time, queries - done), existing);
        const auto n = static_cast<double>(right_.count());
        in_vain_ = static_cast<double>(misled_so_far() - misled) / n;
        bytes_ = static_cast<double>(bytes_so_far() - bytes) / n;
        predicted_ /= n;
    }
    void report_to(report& r, const std::string& name, const std::string& of) const {
        const auto n = static_cast<double>(right_.count());
        r.figures.push_back({name, right_.mean(), 1.0});
        r.figures.push_back({"  nodes asked in vain" + of, in_vain_, predicted_, std::sqrt(predicted_ / n)});
        r.figures.push_back({"  letters" + of, letters_.mean(), {}, letters_.error()});
        r.figures.push_back({"  bytes of letters" + of, bytes_, {}, {}, "bytes"});
    }

  private:
    void ask(std::uint64_t number, bool existing) {
        std::map<std::pair<node_id, std::uint32_t>, std::uint64_t> asked;  // node and lookup: the object
        for (std::uint64_t i = 0; i < number; ++i) {
            const node_id by = world_.random_node(), holder = world_.random_node();
            const auto& theirs = world_.truth().objects_of(holder);
            if (existing && theirs.empty()) continue;
            const std::uint64_t object = existing ? theirs[world_.below(theirs.size())] : absent_++;
            world_.net().at(by, [&](group_node& n, std::uint64_t now, outbox& out) {
                if (const auto id = n.look_up(world_.digest_of(object), now, out)) asked[{by, *id}] = object;
            });
            const node_id first = world_.leader_of(by), home = world_.leader_of(holder);
            // Of the others whose unions say yes by accident, half are asked before the one that has it.
            if (!existing) predicted_ += all_ - rates_.at(first);
            if (existing && home != first) predicted_ += (all_ - rates_.at(first) - rates_.at(home)) / 2;
        }
        const std::uint64_t latest = world_.net().now() + 100'000;
        while (!asked.empty() && world_.net().now() < latest) {
            world_.net().run_until(world_.net().now() + 1000);
            world_.net().each([&](node_id by, group_node& node) {
                for (const auto& answer : node.take_answers()) {
                    const auto one = asked.extract({by, answer.id});
                    if (one) judge(answer, one.mapped());
                }
            });
        }
        for (std::size_t i = 0; i < asked.size(); ++i) right_.add(false);
    }
    void judge(const overlay::lookup_answer& answer, std::uint64_t object) {
        const bool absent = object >= first_absent;
        right_.add(absent ? !answer.holder && !answer.timed_out
                          : answer.holder && world_.truth().has(*answer.holder, object));
        letters_.add(answer.hops);
    }
    std::uint64_t misled_so_far() {
        std::uint64_t all = 0;
        world_.net().each([&](node_id, const group_node& n) { all += n.counted().misled; });
        return all;
    }
    std::uint64_t bytes_so_far() {
        std::uint64_t all = 0;
        for (auto kind = static_cast<std::size_t>(group_kind::ask);
             kind <= static_cast<std::size_t>(group_kind::has); ++kind)
            all += world_.net().sent().bytes_of_kind[kind];
        return all;
    }

    group_world& world_;
    std::unordered_map<node_id, double> rates_;
    double all_ = 0, in_vain_ = 0, bytes_ = 0, predicted_ = 0;
    tally right_, letters_;
    static constexpr std::uint64_t first_absent = std::uint64_t{1} << 62;
    std::uint64_t absent_ = first_absent;
};

// One change: its bits to the leader, its answer; a delta of the union to every other leader.
double predicted_change(group_world& w, double objects_per_group, double loss) {
    const auto& how = w.how();
    const auto m = static_cast<double>(how.terms.geometry.bits), leaders = static_cast<double>(w.groups());
    const double flips = 2.0 * how.terms.geometry.hashes;
    const double update = 15 + flips * (std::log2(m / flips) + 2) / 8, family = 1 + 8 + 8 + 1 + 8 * 8;
    const auto model = mesh_model(how.mesh, leaders, loss, group_world::latency);
    const auto course = theory::gossip_spread(model, 0.99);
    const mesh_costs costs(how.terms.geometry, objects_per_group, leaders);
    // Generations and incarnations start from the clock, and have two bytes.
    const double version = costs.version + 2;
    // Changes of one group that fall into one round of its leader are one publication.
    const double at_once = static_cast<double>(how.mesh.round) / static_cast<double>(change_every) / leaders;
    return update + family +
           leaders / (1 + at_once) *
               (version * (course.greetings + course.replies) + costs.record(costs.delta) + 3);
}

void report_changes(report& r, group_world& w, double objects_per_group, double loss) {
    constexpr int changes = 200;
    constexpr std::uint64_t quiet = 300'000;  // ms
    const auto before_idle = w.net().sent().bytes;
    w.net().run_until(w.net().now() + quiet);
    const double idle = static_cast<double>(w.net().sent().bytes - before_idle) / static_cast<double>(quiet);
    const auto before = w.net().sent().bytes, began = w.net().now();
    for (int i = 0; i < changes; ++i) {
        w.change(w.random_node());
        w.net().run_until(w.net().now() + change_every);
    }
    w.run_until_settled();
    const double bytes = static_cast<double>(w.net().sent().bytes - before) -
                         idle * static_cast<double>(w.net().now() - began);
    const auto nodes = static_cast<double>(w.nodes().size());
    r.figures.push_back({"idle bytes per node and second", idle * 1000 / nodes, {}, {}, "bytes"});
    r.figures.push_back({"bytes per change, in the whole network",
                         bytes / changes,
                         predicted_change(w, objects_per_group, loss),
                         {},
                         "bytes"});
    const mesh_costs costs(w.how().terms.geometry, objects_per_group, static_cast<double>(w.groups()));
    const auto whole = static_cast<double>(w.net().find(1)->mesh().own_summary().full()->size());
    r.figures.push_back({"  whole unions to all leaders instead",
                         static_cast<double>(w.groups()) * whole,
                         static_cast<double>(w.groups()) * costs.whole,
                         {},
                         "bytes"});
}

}  // namespace

report run_groups(const options& o) {
    const std::uint64_t nodes = number_of("--nodes", o.nodes, 10'000, 20);
    // Every node has an object that can change, and absent ones are a quarter of what is looked up.
    const std::uint64_t objects =
        number_of("--objects", o.objects, std::max<std::uint64_t>(1'000'000, nodes), nodes);
    const std::uint64_t queries = number_of("--queries", o.queries, 20'000, 4);
    group_world w(nodes, objects, o);
    report r{"groups",
             fmt::format("{} nodes in {} groups, {} objects, {} lookups, seed {}", nodes, w.groups(), objects,
                         queries, o.seed),
             {},
             {}};
    r.figures.push_back({"seconds after the last join until settled", w.run_until_settled(), {}, {}, "s"});
    if (o.churn > 0) {
        std::ranges::move(group_churn(w, o).run(queries), std::back_inserter(r.figures));
        return r;
    }
    report_changes(r, w, static_cast<double>(objects) / static_cast<double>(w.groups()), o.loss);
    lookups(w, queries, true).report_to(r, "lookups that find an existing object", ", per lookup");
    lookups(w, queries / 4, false).report_to(r, "lookups that find no absent object", ", per absent object");
    const std::uint64_t lost = std::max<std::uint64_t>(1, w.groups() / 20);
    for (node_id leader = 1; leader <= lost; ++leader) w.crash(leader);
    r.figures.push_back({fmt::format("seconds until {} crashed leaders are replaced", lost),
                         w.run_until_settled(),
                         {},
                         {},
                         "s"});
    std::uint64_t leaders = 0;
    for (const node_id who : w.nodes()) leaders += w.net().find(who)->leads();
    r.figures.push_back({"  leaders then", static_cast<double>(leaders), static_cast<double>(w.groups())});
    lookups(w, queries / 4, true).report_to(r, "lookups that find an existing object then", ", per lookup");
    return r;
}

}  // namespace posy::simulate
