// A tree of nodes that finds objects by filters (posy/overlay/tree_node.hpp): 10,000 nodes, a million
// objects.
//
// A node joins the nearest of 64 random earlier nodes that have fewer than ten children. Requests come from
// random nodes for random objects. Then objects come and go, one at a time, and the bytes on all links are
// counted.
//
// With churn, nodes fail and come back a minute later with their objects. A lookup counts if its asker and
// the holder stay up until the answer; it succeeds if the holder answers within five minutes, after as many
// attempts as it takes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "network.hpp"
#include "outages.hpp"
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
constexpr std::uint64_t between_lookups = 30, longest_wait = 300'000;  // ms

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
          passing_(nodes_, 0),
          outages_(nodes_, 1, o.churn),
          net_({.latency = [this](node_id a, node_id b) { return places_.latency(a, b); }, .loss = o.loss},
               o.seed) {}

    report run();

  private:
    theory::tree_shape draw_shape();
    overlay::tree_settings settings() const;
    void join(node_id);
    // A lookup that waits for its answer.
    struct open_lookup {
        std::uint64_t object, asked_at;
        std::uint32_t lives;  // of asker and holder, added
    };
    std::uint32_t lives_of(node_id asker, std::uint64_t object) const;
    void pass_time(std::uint64_t);
    void ask(bool existing, std::uint64_t number);
    void ask_one(node_id by, std::uint64_t object);
    void expect_outages(std::uint32_t asker, std::uint32_t holder);
    void collect();
    void change_one();
    void judge(const overlay::lookup_answer&, std::uint32_t asker, std::uint64_t object);
    double failure_rate() const { return options_.churn / 3'600'000; }  // of a node, per ms
    double whole_bytes(std::uint32_t from);
    std::uint64_t update_bytes() const;
    std::vector<figure> figures() const;
    std::vector<figure> figures_of_churn() const;
    double deviation_by_outages(double square_of_length, const tally&) const;
    plot wrong_turns_by_distance() const;
    double bits() const { return static_cast<double>(settings().terms.geometry.bits); }

    std::uint64_t nodes_, objects_, queries_;
    options options_;
    std::mt19937_64 random_;
    places places_;
    std::vector<std::uint32_t> holders_;  // of objects
    std::vector<std::vector<std::uint64_t>> own_;
    theory::tree_shape shape_;
    std::vector<double> into_;            // theory::false_forwards_into() of it
    std::vector<std::uint64_t> passing_;  // lookups, by a node of their way
    outages outages_;
    network<tree_node> net_;
    std::map<std::pair<node_id, std::uint32_t>, open_lookup> open_;  // by asker and number
    std::uint32_t life_ = 0;

    tally success_, hops_, stretch_, time_stretch_;
    tally first_, first_expected_, down_, down_expected_, denied_, wait_;  // with churn
    double shut_ = 0, waits_ = 0;  // lookups expected to meet an outage, and their waits added, in seconds
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

void tree_run::pass_time(std::uint64_t ms) {
    outages_.pass(
        net_.now() + ms, random_, [&](std::uint64_t at) { net_.run_until(at); },
        [&](node_id who) { net_.crash(who); }, [&](node_id who) { join(who); });
}

std::uint32_t tree_run::lives_of(node_id asker, std::uint64_t object) const {
    return outages_.lives(asker) + (object < objects_ ? outages_.lives(holders_[object]) : 0);
}

void tree_run::ask(bool existing, std::uint64_t number) {
    for (std::uint64_t i = 0; i < number; ++i) {
        ask_one(random_() % nodes_, existing ? random_() % objects_ : objects_ + i);
        pass_time(between_lookups);
        if (i % 2000 == 0) collect();
    }
    for (std::uint64_t waited = 0; waited <= longest_wait; waited += longest_wait / 10) {
        pass_time(longest_wait / 10);
        collect();
    }
}

void tree_run::ask_one(node_id by, std::uint64_t object) {
    if (!net_.find(by) || (object < objects_ && !net_.find(holders_[object]))) return;
    net_.at(by, [&](tree_node& n, std::uint64_t now, outbox& out) {
        if (const auto id = n.look_up(key_of(object), now, out))
            open_[{by, *id}] = {object, now, lives_of(by, object)};
    });
    if (object < objects_) expect_outages(static_cast<std::uint32_t>(by), holders_[object]);
}

// Answers, and what has waited too long. Lookups of which an end has failed do not count.
void tree_run::collect() {
    net_.each([&](node_id by, tree_node& node) {
        for (const auto& answer : node.take_answers()) {
            const auto found = open_.find({by, answer.id});
            if (found == open_.end()) continue;
            const open_lookup asked = found->second;
            open_.erase(found);
            if (asked.lives == lives_of(by, asked.object))
                judge(answer, static_cast<std::uint32_t>(by), asked.object);
        }
    });
    std::erase_if(open_, [&](const auto& entry) {
        const auto& [of, asked] = entry;
        const bool same = asked.lives == lives_of(of.first, asked.object);
        const bool late = net_.now() >= asked.asked_at + longest_wait;
        if (same && late) (asked.object < objects_ ? success_ : absent_right_).add(0);
        return !same || late;
    });
}

// The way through the tree, from two ways up: both ends, and the highest node between them once.
std::vector<std::uint32_t> way_between(std::vector<std::uint32_t> a, std::vector<std::uint32_t> b) {
    while (a.size() > 1 && b.size() > 1 && a.end()[-2] == b.end()[-2]) a.pop_back(), b.pop_back();
    a.insert(a.end(), b.rbegin() + 1, b.rend());
    return a;
}

// Whether a node of the way is down now, how likely that was, and how long it takes until the holder answers
// then. The root never fails.
void tree_run::expect_outages(std::uint32_t asker, std::uint32_t holder) {
    if (options_.churn == 0) return;
    auto between = way_between(shape_.way_up(asker), shape_.way_up(holder));
    auto travel = static_cast<double>(places_.latency(holder, asker));  // the answer comes straight
    for (std::size_t i = 1; i < between.size(); ++i)
        travel += static_cast<double>(places_.latency(between[i - 1], between[i]));
    std::erase_if(between, [&](std::uint32_t n) { return n == asker || n == holder || n == 0; });
    for (const std::uint32_t n : between) ++passing_[n];
    down_.add(std::ranges::any_of(between, [&](std::uint32_t n) { return outages_.is_down(n); }));
    const auto open = [&](double outage) {
        return theory::open_way_probability(failure_rate(), outage, static_cast<double>(between.size()));
    };
    // A node that is back knows its children after their next beat.
    constexpr auto down_time = static_cast<double>(outages::down_time);
    const auto beat = static_cast<double>(settings().beat),
               patience = static_cast<double>(settings().lookups.patience);
    down_expected_.add(1 - open(down_time));
    first_expected_.add(open(down_time + beat / 2));
    const double shut = 1 - open(down_time + beat / 2);
    shut_ += shut;
    waits_ += shut * (theory::wait_for_repair(down_time, beat, patience, shut) + travel) / 1000;
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
    denied_.add(!answer.holder && !answer.timed_out);
    first_.add(answer.holder == holder && answer.attempts == 1);
    if (answer.holder != holder) return;
    if (answer.attempts > 1) return wait_.add(static_cast<double>(answer.took) / 1000);
    const auto down = shape_.way_up(holder);
    const std::size_t steps = way_between(up, down).size() - 1;
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
    // A child whose letters were lost may have moved: the way up is that of the nodes, not of the plan.
    for (node_id at = from, steps = 0; at != 0 && steps < nodes_; ++steps) {
        const auto above = net_.find(at)->parent();
        const tree_node* parent = above ? net_.find(*above) : nullptr;
        if (!parent || std::ranges::count(parent->children(), at) == 0) break;
        overlay::filter_sender sender(settings().terms, 1);
        const auto whole = sender.next(1, 0, [&](unsigned) { return parent->ones_of(at); });
        bytes += static_cast<double>(whole->size()) + reply;
        at = *above;
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
    const auto certain = options_.loss == 0 ? std::optional(1.0) : std::nullopt;
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
    };
}

// Of the share of the lookups that meet an outage of that length: an outage of a node that a share w of them
// pass takes w·L/T from the T in which they were asked, and a node has a Poisson number of outages.
double tree_run::deviation_by_outages(double square_of_length, const tally& met) const {
    const auto n = static_cast<double>(met.count());
    double variance = met.error() * met.error();
    for (const std::uint64_t passing : passing_) {
        const double w = static_cast<double>(passing) / n;
        variance += w * w * failure_rate() * square_of_length / (n * between_lookups);
    }
    return std::sqrt(variance);
}

std::vector<figure> tree_run::figures_of_churn() const {
    constexpr auto down_time = static_cast<double>(outages::down_time);
    const double out = down_time + static_cast<double>(settings().beat) / 2;
    return {
        {"failures of nodes", static_cast<double>(outages_.failures())},
        {"lookups with a node of the way down", down_.mean(), down_expected_.mean(),
         deviation_by_outages(down_time * down_time, down_)},
        {"  found at the first attempt", first_.mean(), first_expected_.mean(),
         deviation_by_outages(out * out, first_)},
        {"  seconds until found, where not at once", wait_.mean(), shut_ > 0 ? waits_ / shut_ : 0,
         wait_.error(), "s"},
        {"  said to be absent", denied_.mean(), 0.0, denied_.error()},
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
    outages_.begin(net_.now(), random_);
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
    if (options_.churn > 0) std::ranges::move(figures_of_churn(), std::back_inserter(r.figures));
    const auto n = static_cast<double>(objects_);
    r.figures.push_back({"bytes to build the filters, per object", build_bytes / n, {}, {}, "bytes"});
    r.figures.push_back(
        {"memory of all nodes, per object", static_cast<double>(memory) / n, {}, {}, "bytes"});
    r.plots.push_back(wrong_turns_by_distance());
    return r;
}

}  // namespace

report run_tree(const options& o) { return tree_run(o).run(); }

}  // namespace posy::simulate
