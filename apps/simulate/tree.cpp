// A tree of nodes that finds objects by filters (posy/overlay/tree_node.hpp): 10,000 nodes, a million
// objects.
//
// A node joins the nearest of 64 random earlier nodes that have fewer than ten children. Requests come from
// random nodes for random objects. Then objects come and go, one at a time, and the bytes on all links are
// counted.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "network.hpp"
#include "places.hpp"
#include "posy/overlay/tree_node.hpp"
#include "posy/theory/routing.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

using overlay::outbox;
using overlay::tree_kind;
using overlay::tree_node;

constexpr unsigned hashes = 4, fan_out = 10;
constexpr double bits_per_object = 2;        // of all objects; the filters below the root have fewer
constexpr double header = 15, reply = 9;     // bytes of an update beside its positions, and of its answer
constexpr std::uint64_t settling = 120'000;  // ms until an update has reached the root

digest key_of(std::uint64_t object) { return hasher()(object); }

class tree_run {
  public:
    explicit tree_run(const options& o)
        : nodes_(number_of("--nodes", o.nodes, 10'000, 2)),
          objects_(number_of("--objects", o.objects, 1'000'000, 1)),
          queries_(number_of("--queries", o.queries, 100'000, 1)),
          options_(o),
          random_(o.seed),
          places_(nodes_, random_),
          shape_(draw_shape()),
          into_(theory::false_forwards_into(shape_, bits(), hashes)),
          net_({.latency = [this](node_id a, node_id b) { return places_.latency(a, b); }, .loss = o.loss},
               o.seed) {}

    report run();

  private:
    theory::tree_shape draw_shape();
    overlay::tree_settings settings() const;
    void join(node_id);
    void replace_some();
    void ask(bool existing, std::uint64_t number);
    void change_one();
    void judge(const overlay::lookup_answer&, std::uint32_t asker, std::uint64_t object);
    double whole_bytes(std::uint32_t from);
    std::uint64_t update_bytes() const;
    std::vector<figure> figures() const;
    plot wrong_turns_by_distance() const;
    double bits() const { return static_cast<double>(settings().terms.geometry.bits); }

    std::uint64_t nodes_, objects_, queries_;
    options options_;
    std::mt19937_64 random_;
    places places_;
    std::vector<std::uint32_t> holders_;  // of objects
    std::vector<std::vector<std::uint64_t>> own_;
    theory::tree_shape shape_;
    std::vector<double> into_;  // theory::false_forwards_into() of it
    network<tree_node> net_;
    std::vector<node_id> down_;
    std::uint64_t replaced_ = 0;
    std::uint32_t life_ = 0;

    tally success_, hops_, stretch_, time_stretch_;
    std::map<std::size_t, std::pair<tally, tally>> wrong_by_distance_;  // measured, expected
    tally wrong_, wrong_expected_, wrong_absent_, wrong_absent_expected_, absent_right_;
    tally change_bytes_, change_expected_, whole_bytes_;
};

// Parents come before their children, and every object has one holder.
theory::tree_shape tree_run::draw_shape() {
    std::vector<std::uint32_t> parents{0}, children(nodes_, 0);
    for (std::uint32_t i = 1; i < nodes_; ++i) {
        std::uint32_t best = i;
        for (int tries = 0; tries < 64 || best == i; ++tries) {
            const auto other = static_cast<std::uint32_t>(random_() % i);
            if (children[other] >= fan_out) continue;
            if (best == i || places_.latency(i, other) < places_.latency(i, best)) best = other;
        }
        ++children[best];
        parents.push_back(best);
    }
    std::vector<double> objects(nodes_, 0);
    own_.resize(nodes_);
    for (std::uint64_t object = 0; object < objects_; ++object) {
        holders_.push_back(static_cast<std::uint32_t>(random_() % nodes_));
        own_[holders_.back()].push_back(object);
        ++objects[holders_.back()];
    }
    return {parents, objects};
}

overlay::tree_settings tree_run::settings() const {
    overlay::tree_settings s;
    const auto wanted = static_cast<std::uint64_t>(bits_per_object * static_cast<double>(objects_)) + 64;
    s.terms.geometry = {.bits = round_up_bits(wanted, hashes, layout_id::spread),
                        .hashes = hashes,
                        .layout = layout_id::spread};
    s.beat = options_.churn > 0 ? 30'000 : 600'000;
    s.terms.most_fill = 0.9;  // more than all objects below one child would fill
    s.seeds = {0};
    s.lookups.attempts = 1000;
    return s;
}

void tree_run::join(node_id who) {
    tree_node& node = net_.join(who, tree_node(who, settings(), ++life_, random_()));
    outbox nowhere;
    for (const std::uint64_t object : own_[who]) node.insert(key_of(object), net_.now(), nowhere);
    if (who == 0) return;
    net_.at(who, [&](tree_node& n, std::uint64_t now, outbox& out) {
        n.join(shape_.parent(static_cast<std::uint32_t>(who)), now, out);
    });
}

// The share of the nodes that the options replace in a minute. A node that crashed comes back in the next
// minute, in another life, with its objects.
void tree_run::replace_some() {
    for (const node_id who : std::exchange(down_, {})) join(who);
    double expected = options_.churn * static_cast<double>(nodes_) / 60;
    for (; places::share(random_) < expected; --expected, ++replaced_) {
        const node_id who = 1 + random_() % (nodes_ - 1);
        if (net_.find(who)) down_.push_back(who);
        net_.crash(who);
    }
}

void tree_run::ask(bool existing, std::uint64_t number) {
    constexpr std::uint64_t at_a_time = 2000;
    for (std::uint64_t done = 0; done < number; done += at_a_time) {
        std::map<std::pair<node_id, std::uint32_t>, std::uint64_t> asked;  // node and lookup: the object
        replace_some();
        for (std::uint64_t i = done; i < std::min(number, done + at_a_time); ++i) {
            const node_id by = random_() % nodes_;
            const std::uint64_t object = existing ? random_() % objects_ : objects_ + i;
            if (!net_.find(by) || (existing && !net_.find(holders_[object]))) continue;
            net_.at(by, [&](tree_node& n, std::uint64_t now, outbox& out) {
                if (const auto id = n.look_up(key_of(object), now, out)) asked[{by, *id}] = object;
            });
        }
        net_.run_until(net_.now() + 60'000);
        net_.each([&](node_id by, tree_node& node) {
            for (const auto& answer : node.take_answers()) {
                const auto found = asked.find({by, answer.id});
                if (found != asked.end()) judge(answer, static_cast<std::uint32_t>(by), found->second);
            }
        });
    }
}

// Steps of the way through the tree.
std::size_t distance(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b) {
    while (!a.empty() && !b.empty() && a.back() == b.back()) a.pop_back(), b.pop_back();
    return a.size() + b.size();
}

void tree_run::judge(const overlay::lookup_answer& answer, std::uint32_t asker, std::uint64_t object) {
    const auto up = shape_.way_up(asker);
    const auto wrong_turns = [&](std::size_t steps) {  // there and back
        return (static_cast<double>(answer.hops) - static_cast<double>(steps)) / 2;
    };
    if (object >= objects_) {
        absent_right_.add(!answer.holder && !answer.timed_out);
        wrong_absent_.add(wrong_turns(up.size() - 1));
        wrong_absent_expected_.add(theory::false_forwards_of_absent(shape_, into_, asker));
        return;
    }
    const std::uint32_t holder = holders_[object];
    success_.add(answer.holder == holder);
    if (answer.holder != holder) return;
    const auto down = shape_.way_up(holder);
    const std::size_t steps = distance(up, down);
    hops_.add(answer.hops);
    wrong_.add(wrong_turns(steps));
    const double expected = theory::false_forwards(shape_, into_, asker, holder);
    wrong_expected_.add(expected);
    auto& [measured_here, expected_here] = wrong_by_distance_[steps];
    measured_here.add(wrong_turns(steps));
    expected_here.add(expected);
    if (asker == holder) return;
    stretch_.add(answer.hops / static_cast<double>(steps));
    const auto straight = static_cast<double>(places_.latency(asker, holder));
    time_stretch_.add((static_cast<double>(answer.took) - straight) / straight);  // the answer comes straight
}

std::uint64_t tree_run::update_bytes() const {
    const auto& bytes = net_.sent().bytes_of_kind;
    return bytes[static_cast<std::size_t>(tree_kind::update)] +
           bytes[static_cast<std::size_t>(tree_kind::have)];
}

// What a node and those above it would send if they sent their filters and not what changed in them.
double tree_run::whole_bytes(std::uint32_t from) {
    double bytes = 0;
    for (std::uint32_t at = from; at != 0; at = shape_.parent(at)) {
        const tree_node* parent = net_.find(shape_.parent(at));
        overlay::filter_sender sender(settings().terms, 1);
        const auto whole = sender.next(1, 0, [&](unsigned) { return parent->ones_of(at); });
        bytes += static_cast<double>(whole->size()) + reply;
    }
    return bytes;
}

// An object leaves, and another comes to the same node, so that the filters stay as full as they were.
void tree_run::change_one() {
    const std::uint64_t object = random_() % objects_;
    const std::uint32_t who = holders_[object];
    for (const bool comes : {false, true}) {
        const std::uint64_t before = update_bytes();
        net_.at(who, [&](tree_node& n, std::uint64_t now, outbox& out) {
            comes ? n.insert(key_of(object), now, out) : n.remove(key_of(object), now, out);
        });
        net_.run_until(net_.now() + 60'000);
        change_bytes_.add(static_cast<double>(update_bytes() - before));
        change_expected_.add(theory::tree_change_bytes(shape_, who, bits(), hashes, header, reply));
    }
    if (whole_bytes_.count() < 20) whole_bytes_.add(whole_bytes(who));
}

std::vector<figure> tree_run::figures() const {
    const bool calm =
        options_.churn == 0 && options_.loss == 0;  // otherwise the tree is not the one of the theory
    const auto certain = calm ? std::optional(1.0) : std::nullopt;
    const auto predicted = [&](const tally& a) { return calm ? std::optional(a.mean()) : std::nullopt; };
    return {
        {"lookups of existing objects", static_cast<double>(success_.count())},
        {"found", success_.mean(), certain, success_.error()},
        {"hops per lookup", hops_.mean(), {}, hops_.error()},
        {"stretch in hops, against the way in the tree", stretch_.mean(), {}, stretch_.error()},
        {"stretch in time, against the straight line", time_stretch_.mean(), {}, time_stretch_.error()},
        {"false forwards per lookup", wrong_.mean(), predicted(wrong_expected_), wrong_.error()},
        {"lookups of absent objects", static_cast<double>(absent_right_.count())},
        {"answered as absent", absent_right_.mean(), certain, absent_right_.error()},
        {"false forwards per absent object", wrong_absent_.mean(), predicted(wrong_absent_expected_),
         wrong_absent_.error()},
        {"bytes per change, on all links", change_bytes_.mean(), predicted(change_expected_),
         change_bytes_.error(), "bytes"},
        {"bytes per change, by whole filters", whole_bytes_.mean(), {}, whole_bytes_.error(), "bytes"},
        {"nodes replaced", static_cast<double>(replaced_)},
    };
}

plot tree_run::wrong_turns_by_distance() const {
    plot p{"False forwards by distance",
           "steps to the object in the tree",
           "false forwards per lookup",
           {{"measured", {}}, {"predicted", {}}}};
    for (const auto& [steps, both] : wrong_by_distance_) {
        if (both.first.count() < 100) continue;
        p.curves[0].points.emplace_back(steps, both.first.mean());
        p.curves[1].points.emplace_back(steps, both.second.mean());
    }
    return p;
}

report tree_run::run() {
    for (node_id who = 0; who < nodes_; ++who) join(who);
    net_.run_until(net_.now() + settling);
    const auto build_bytes = static_cast<double>(update_bytes());
    ask(true, queries_);
    ask(false, queries_ / 10);
    if (options_.churn == 0) {
        for (int i = 0; i < 200; ++i) change_one();
    }
    std::size_t memory = 0;
    net_.each([&](node_id, tree_node& n) { memory += n.memory(); });
    report r{"tree",
             fmt::format("{} nodes, {} objects, filters of {} bits and {} hashes, seed {}", nodes_, objects_,
                         bits(), hashes, options_.seed),
             figures(),
             {}};
    r.figures.push_back({"bytes to build the filters, per object",
                         build_bytes / static_cast<double>(objects_),
                         {},
                         {},
                         "bytes"});
    r.figures.push_back({"memory of all nodes, per object",
                         static_cast<double>(memory) / static_cast<double>(objects_),
                         {},
                         {},
                         "bytes"});
    r.plots.push_back(wrong_turns_by_distance());
    return r;
}

}  // namespace

report run_tree(const options& o) { return tree_run(o).run(); }

}  // namespace posy::simulate
