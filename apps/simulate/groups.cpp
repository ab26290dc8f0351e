// Groups under leaders: members tell their leader, leaders gossip the unions; objects change, are looked up
// from leader to leader, and some leaders crash.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

#include "mesh_costs.hpp"
#include "network.hpp"
#include "posy/overlay/group_node.hpp"
#include "posy/shared_filters.hpp"
#include "posy/theory.hpp"
#include "systems.hpp"

namespace posy::simulate {
namespace {

constexpr double latency = 50;  // ms
constexpr std::uint64_t change_every = 2000;

class group_world {
  public:
    group_world(std::uint64_t nodes, std::uint64_t objects, const options& o)
        : groups_(std::max<std::uint64_t>(2, static_cast<std::uint64_t>(std::sqrt(nodes)))),
          random_(o.seed),
          net_({.loss = o.loss}, o.seed + 1) {
        const std::uint64_t per_group = objects / groups_ + 1;
        how_.terms.geometry = {round_up_bits(24 * per_group, 6, layout_id::spread), 6, layout_id::spread};
        how_.terms.most_fill = 0.1;
        how_.mesh.publish.change = 0;
        how_.mesh.max_news = 64;
        for (node_id who = 1; who <= nodes; ++who)
            join(who, objects * who / nodes - objects * (who - 1) / nodes);
    }

    std::uint64_t groups() const { return groups_; }
    const overlay::group_settings& how() const { return how_; }
    network<overlay::group_node>& net() { return net_; }
    std::vector<node_id>& nodes() { return nodes_; }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    static std::string name_of(std::uint64_t object) { return "object " + std::to_string(object); }
    const std::vector<std::uint64_t>& objects_of(node_id who) { return objects_[who]; }
    bool has(node_id who, std::uint64_t object) const {
        const auto found = holder_.find(object);
        return found != holder_.end() && found->second == who;
    }
    // The leader whom a node would ask.
    node_id leader_of(node_id who) {
        const auto& node = *net_.find(who);
        return node.leads() ? who : *node.leader();
    }
    double objects_in_group(node_id leader) {
        double sum = 0;
        for (const node_id who : nodes_)
            sum += leader_of(who) == leader ? static_cast<double>(objects_[who].size()) : 0;
        return sum;
    }
    void change(node_id who) {
        auto& mine = objects_[who];
        net_.at(who, [&](overlay::group_node& n, std::uint64_t now, overlay::outbox&) {
            n.remove(digest_of(mine.back()), now);
            holder_.erase(mine.back());
            mine.back() = ++last_;
            holder_[last_] = who;
            n.insert(digest_of(last_), now);
        });
    }
    void crash(node_id who) {
        for (const std::uint64_t object : objects_[who]) holder_.erase(object);
        objects_.erase(who);
        std::erase(nodes_, who);
        net_.crash(who);
    }
    // Every leader knows every other in its present version, and every member's leader has all of it.
    bool settled() {
        std::uint64_t leaders = 0;
        std::optional<std::uint64_t> hash;
        for (const node_id who : nodes_) leaders += net_.find(who)->leads();
        for (const node_id who : nodes_) {
            const auto& node = *net_.find(who);
            if (!node.leads()) {
                const auto* leader = net_.find(*node.leader());
                if (!node.link().settled() || !leader || !leader->leads()) return false;
                continue;
            }
            const auto& directory = node.mesh().directory();
            if (!hash) hash = directory.hash();
            if (directory.hash() != *hash || directory.live().size() != leaders) return false;
            if (node.mesh().own_summary().due(net_.now() + 1)) return false;
        }
        return true;
    }
    double run_until_settled() {
        const std::uint64_t began = net_.now();
        while (!settled() && net_.now() < began + 3'600'000) net_.run_until(net_.now() + 1000);
        return static_cast<double>(net_.now() - began) / 1000;
    }

    digest digest_of(std::uint64_t object) const {
        return hasher(how_.terms.geometry.hash)(std::string_view(name_of(object)));
    }

  private:
    void join(node_id who, std::uint64_t objects) {
        const auto leader = who <= groups_ ? std::nullopt : std::optional<node_id>(1 + who % groups_);
        auto node = *overlay::group_node::make(who, "node-" + std::to_string(who), how_, leader, 1, random_(),
                                               net_.now(), &pool_);
        if (who > 1 && !leader) node.add_contact(1 + below(who - 1));
        for (std::uint64_t i = 0; i < objects; ++i) {
            objects_[who].push_back(++last_);
            holder_[last_] = who;
            node.insert(digest_of(last_), net_.now());
        }
        net_.join(who, std::move(node));
        nodes_.push_back(who);
        // Not all beats at the same time.
        net_.run_until(net_.now() + 1 + below(3));
    }

    std::uint64_t groups_;
    overlay::group_settings how_;
    std::mt19937_64 random_;
    shared_filters pool_;
    network<overlay::group_node> net_;
    std::vector<node_id> nodes_;
    std::unordered_map<node_id, std::vector<std::uint64_t>> objects_;
    std::unordered_map<std::uint64_t, node_id> holder_;
    std::uint64_t last_ = 0;
};

void look_up(report& r, group_world& w, std::uint64_t queries) {
    const auto& g = w.how().terms.geometry;
    std::unordered_map<node_id, double> rate;  // of each union
    double all = 0;
    for (const node_id who : w.nodes()) {
        if (!w.net().find(who)->leads()) continue;
        rate[who] = theory::spread_rate(w.objects_in_group(who), static_cast<double>(g.bits), g.hashes);
        all += rate[who];
    }
    double found = 0, false_leaders = 0, false_members = 0, predicted = 0;
    for (std::uint64_t i = 0; i < queries; ++i) {
        const node_id asker = w.nodes()[w.below(w.nodes().size())],
                      holder = w.nodes()[w.below(w.nodes().size())];
        const auto& theirs = w.objects_of(holder);
        if (theirs.empty()) continue;
        const std::uint64_t object = theirs[w.below(theirs.size())];
        const node_id first = w.leader_of(asker), home = w.leader_of(holder);
        auto leaders = w.net().find(first)->leaders_with(w.digest_of(object));
        leaders.push_back(first);
        for (const node_id leader : leaders) {
            false_leaders += leader != home && leader != first;
            for (const node_id member : w.net().find(leader)->members_with(w.digest_of(object)))
                w.has(member, object) ? ++found : ++false_members;
        }
        predicted += all - rate[first] - (home != first ? rate[home] : 0);
    }
    const auto n = static_cast<double>(queries);
    r.figures.push_back({"lookups that find an existing object", found / n, 1.0});
    r.figures.push_back(
        {"leaders asked in vain, per lookup", false_leaders / n, predicted / n, std::sqrt(predicted) / n});
    // A member has a hundredth of the group's objects in the group's array.
    const double members = static_cast<double>(w.nodes().size()) / static_cast<double>(w.groups());
    const double each = static_cast<double>(w.objects_of(w.nodes().back()).size());
    const double rate_of_member = theory::spread_rate(each, static_cast<double>(g.bits), g.hashes);
    r.figures.push_back({"members asked in vain, per lookup", false_members / n,
                         (2 + predicted / n) * members * rate_of_member});
}

// One change: its bits to the leader, its answer; a delta of the union to every other leader.
double predicted_change(group_world& w, double objects_per_group, double loss) {
    const auto& how = w.how();
    const auto m = static_cast<double>(how.terms.geometry.bits), leaders = static_cast<double>(w.groups());
    const double flips = 2.0 * how.terms.geometry.hashes;
    const double update = 15 + flips * (std::log2(m / flips) + 2) / 8, family = 1 + 8 + 8 + 1 + 8 * 8;
    const auto model = mesh_model(how.mesh, leaders, loss, latency);
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
        w.change(w.nodes()[w.below(w.nodes().size())]);
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
    const std::uint64_t nodes = std::max<std::uint64_t>(20, o.nodes.value_or(10'000));
    const std::uint64_t objects = o.objects.value_or(1'000'000), queries = o.queries.value_or(20'000);
    group_world w(nodes, objects, o);
    report r{"groups",
             fmt::format("{} nodes in {} groups, {} objects, {} lookups, seed {}", nodes, w.groups(), objects,
                         queries, o.seed),
             {},
             {}};
    r.figures.push_back({"seconds after the last join until settled", w.run_until_settled(), {}, {}, "s"});
    report_changes(r, w, static_cast<double>(objects) / static_cast<double>(w.groups()), o.loss);
    look_up(r, w, queries);
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
    look_up(r, w, queries / 4);
    return r;
}

}  // namespace posy::simulate
