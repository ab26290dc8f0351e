// Nodes with attenuated filters (posy/overlay/attenuated_node.hpp): 10,000 nodes, a million objects.
//
// Every node has four neighbours at random. The object of rank r has 1000/r copies at random nodes, at least
// one, and is asked for with a frequency of 1/r (copies.hpp). Requests for objects with a copy within d hops,
// for those without and for objects that do not exist are counted apart. Then objects come and go, one at a
// time, and the bytes on all links are counted.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "copies.hpp"
#include "network.hpp"
#include "places.hpp"
#include "posy/overlay/attenuated_node.hpp"
#include "posy/theory.hpp"
#include "posy/theory/routing.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

using overlay::attenuated_kind;
using overlay::attenuated_node;
using overlay::outbox;

constexpr unsigned degree = 4, depth = 3, hashes = 4;
constexpr double bits_per_object = 8;  // of the last level
constexpr double most_copies = 0.1;    // of the nodes have the object of rank 1
constexpr double header = 14 + depth,
                 reply = 9;  // bytes of an update beside its positions, and of its answer

digest key_of(std::uint64_t object) { return hasher()(object); }

class attenuated_run {
  public:
    explicit attenuated_run(const options& o)
        : nodes_(number_of("--nodes", o.nodes, 10'000, 8)),
          objects_(number_of("--objects", o.objects, 1'000'000, 1)),
          queries_(number_of("--queries", o.queries, 100'000, 1)),
          options_(o),
          random_(o.seed),
          places_(nodes_, random_),
          world_(nodes_, objects_, degree, most_copies * static_cast<double>(nodes_), random_),
          net_({.latency = [this](node_id a, node_id b) { return places_.latency(a, b); }, .loss = o.loss},
               o.seed) {}

    report run();

  private:
    struct query {
        node_id by;
        std::uint64_t object;
        unsigned distance;  // to the nearest copy; 0 if it is here or not known
    };
    struct outcome {
        tally success, hops, stretch;
        double by_filter = 0, gave_up = 0;  // per lookup
        double bytes = 0;                   // per lookup
        std::uint64_t asked = 0;
    };

    overlay::attenuated_settings settings() const;
    void join(node_id);
    void build();
    void replace_some();
    bool exists(std::uint64_t object);
    query draw_query();
    outcome ask(const std::vector<query>&);
    attenuated_node::counters counted();
    void predict();
    // The nodes within depth, where no two ways meet.
    static double around() {
        double sum = 1, ring = degree;
        for (unsigned i = 0; i < depth; ++i, ring *= degree - 1) sum += ring;
        return sum;
    }
    void change_one();
    double whole_bytes(node_id from);
    std::uint64_t update_bytes() const;
    plot found_by_copies() const;
    std::vector<figure> figures(const outcome& near, const outcome& far, const outcome& absent) const;

    std::uint64_t nodes_, objects_, queries_;
    options options_;
    std::mt19937_64 random_;
    places places_;
    copies world_;
    network<attenuated_node> net_;

    std::vector<node_id> members_, down_;
    std::uint64_t replaced_ = 0;
    std::uint32_t life_ = 0;

    std::vector<double> rates_, sizes_;  // by level, predicted
    tally near_expected_, stray_expected_;
    std::map<std::size_t, tally> near_by_copies_;  // how often a copy is within depth, by the logarithm
    tally change_bytes_, whole_bytes_;
};

overlay::attenuated_settings attenuated_run::settings() const {
    overlay::attenuated_settings s;
    double last = static_cast<double>(objects_) / static_cast<double>(nodes_);
    for (unsigned i = 1; i < depth; ++i) last *= degree - 1;
    const auto wanted = static_cast<std::uint64_t>(bits_per_object * last) + 64;
    s.terms.geometry = {.bits = round_up_bits(wanted, hashes, layout_id::spread),
                        .hashes = hashes,
                        .layout = layout_id::spread};
    s.terms.levels = depth;
    s.beat = options_.churn > 0 ? 30'000 : 600'000;
    s.republish = options_.churn > 0 ? 600'000 : 0;
    s.lookups.attempts = 1000;
    return s;
}

void attenuated_run::join(node_id who) {
    net_.join(who, attenuated_node(who, settings(), ++life_, random_()));
    net_.at(who, [&](attenuated_node& n, std::uint64_t now, outbox& out) {
        n.set_members(members_, now, out);
        for (const std::uint64_t object : world_.objects_of(who)) n.insert(key_of(object), now, out);
        for (const node_id other : world_.neighbours(who)) n.connect(other, now, out);
    });
}

void attenuated_run::build() {
    members_.resize(nodes_);
    std::iota(members_.begin(), members_.end(), 0);
    for (const node_id who : members_) {
        join(who);
        net_.run_until(net_.now() + 1);
    }
    net_.run_until(net_.now() + (options_.loss > 0 ? 600'000 : 60'000));
}

// The share of the nodes that the options replace in a minute. A node that crashed comes back in the next
// minute, in another life, with its objects, but without what it knew as a home.
void attenuated_run::replace_some() {
    for (const node_id who : std::exchange(down_, {})) join(who);
    double expected = options_.churn * static_cast<double>(nodes_) / 60;
    for (; places::share(random_) < expected; --expected, ++replaced_) {
        const node_id who = random_() % nodes_;
        if (net_.find(who)) down_.push_back(who);
        net_.crash(who);
    }
}

bool attenuated_run::exists(std::uint64_t object) {
    return object < objects_ &&
           std::ranges::any_of(world_.holders(object), [&](node_id at) { return net_.find(at) != nullptr; });
}

attenuated_run::query attenuated_run::draw_query() {
    // Rank r with a frequency of 1/r: the inverse of the logarithm.
    const double u = places::share(random_);
    const auto rank = static_cast<std::uint64_t>(std::exp(u * std::log(static_cast<double>(objects_) + 1)));
    const node_id by = random_() % nodes_;
    const std::uint64_t object = std::min(rank, objects_) - 1;
    return {by, object, world_.distance(by, object, depth)};
}

attenuated_node::counters attenuated_run::counted() {
    attenuated_node::counters sum;
    net_.each([&](node_id, attenuated_node& n) {
        sum.by_filter += n.counted().by_filter;
        sum.gave_up += n.counted().gave_up;
    });
    return sum;
}

attenuated_run::outcome attenuated_run::ask(const std::vector<query>& queries) {
    outcome all;
    const auto before = counted();
    const auto bytes = [&] {
        const auto& of = net_.sent().bytes_of_kind;
        return of[static_cast<std::size_t>(attenuated_kind::ask)] +
               of[static_cast<std::size_t>(attenuated_kind::found)] +
               of[static_cast<std::size_t>(attenuated_kind::absent)];
    };
    const std::uint64_t bytes_before = bytes();
    constexpr std::size_t at_a_time = 5000;
    for (std::size_t first = 0; first < queries.size(); first += at_a_time) {
        std::map<std::pair<node_id, std::uint32_t>, query> asked;
        replace_some();
        for (std::size_t i = first; i < std::min(queries.size(), first + at_a_time); ++i) {
            const query& q = queries[i];
            if (!net_.find(q.by) || (q.object < objects_ && !exists(q.object))) continue;
            net_.at(q.by, [&](attenuated_node& n, std::uint64_t now, outbox& out) {
                if (const auto id = n.look_up(key_of(q.object), now, out)) asked[{q.by, *id}] = q;
            });
        }
        net_.run_until(net_.now() + (options_.loss > 0 ? 300'000 : 60'000));
        net_.each([&](node_id by, attenuated_node& node) {
            for (const auto& answer : node.take_answers()) {
                const auto found = asked.find({by, answer.id});
                if (found == asked.end()) continue;  // of an earlier round
                const query& q = found->second;
                all.success.add(q.object < objects_
                                    ? answer.holder &&
                                          std::ranges::binary_search(world_.holders(q.object), *answer.holder)
                                    : !answer.holder && !answer.timed_out);
                all.hops.add(answer.hops);
                if (!answer.holder || q.distance == 0) continue;
                all.stretch.add(answer.hops / static_cast<double>(q.distance));
            }
        });
    }
    const auto after = counted();
    all.asked = queries.size();
    const auto each = [&](std::uint64_t n) {
        return static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(queries.size(), 1));
    };
    all.by_filter = each(after.by_filter - before.by_filter);
    all.gave_up = each(after.gave_up - before.gave_up);
    all.bytes = each(bytes() - bytes_before);
    return all;
}

// The mean size and rate of each level, over a sample of links.
void attenuated_run::predict() {
    const auto m = static_cast<double>(settings().terms.geometry.bits);
    std::vector<tally> sizes(depth), rates(depth);
    for (int i = 0; i < 2000; ++i) {
        const node_id from = random_() % nodes_;
        const node_id to = world_.neighbours(from)[random_() % world_.neighbours(from).size()];
        const auto levels = world_.behind(from, to, depth);
        for (unsigned level = 0; level < depth; ++level) {
            std::set<std::uint64_t> objects;
            for (const node_id at : levels[level])
                objects.insert(world_.objects_of(at).begin(), world_.objects_of(at).end());
            const auto n = static_cast<double>(objects.size());
            sizes[level].add(n);
            rates[level].add(theory::false_positive_rate_mean_fill(n, m, hashes));
        }
    }
    for (unsigned level = 0; level < depth; ++level) {
        sizes_.push_back(sizes[level].mean());
        rates_.push_back(rates[level].mean());
    }
}

std::uint64_t attenuated_run::update_bytes() const {
    const auto& bytes = net_.sent().bytes_of_kind;
    return bytes[static_cast<std::size_t>(attenuated_kind::update)] +
           bytes[static_cast<std::size_t>(attenuated_kind::have)];
}

// What the change of a node's object would cost if whole arrays were sent, over the same links.
double attenuated_run::whole_bytes(node_id from) {
    double bytes = 0;
    std::set<std::pair<node_id, node_id>> links;
    for (const node_id other : world_.neighbours(from)) links.insert({from, other});
    for (unsigned i = 0; i < depth; ++i) {
        std::set<std::pair<node_id, node_id>> next;
        for (const auto& [a, b] : links) {
            overlay::filter_sender sender(settings().terms, 1);
            const auto whole = sender.next(1, 0, [&, one = a, other = b](unsigned level) {
                return net_.find(other)->level(one, level).sorted();
            });
            bytes += static_cast<double>(whole->size()) + reply;
            for (const node_id c : world_.neighbours(b)) {
                if (c != a) next.insert({b, c});
            }
        }
        links = std::move(next);
    }
    return bytes;
}

// An object leaves, and comes back to the same node, so that the filters stay as full as they were.
void attenuated_run::change_one() {
    const std::uint64_t object = random_() % objects_;
    const node_id who = world_.holders(object).front();
    for (const bool comes : {false, true}) {
        const std::uint64_t before = update_bytes();
        net_.at(who, [&](attenuated_node& n, std::uint64_t now, outbox& out) {
            comes ? n.insert(key_of(object), now, out) : n.remove(key_of(object), now, out);
        });
        net_.run_until(net_.now() + 10'000);
        change_bytes_.add(static_cast<double>(update_bytes() - before));
    }
    if (whole_bytes_.count() < 50) whole_bytes_.add(whole_bytes(who));
}

std::vector<figure> attenuated_run::figures(const outcome& near, const outcome& far,
                                            const outcome& absent) const {
    const auto certain = options_.churn == 0 ? std::optional(1.0) : std::nullopt;
    const double astray = theory::attenuated_false_forwards(rates_, degree);
    const auto m = static_cast<double>(settings().terms.geometry.bits);
    const auto wrong = [&](const outcome& o) {  // hops of a request that could not succeed
        return std::sqrt(o.by_filter / static_cast<double>(std::max<std::uint64_t>(o.asked, 1)));
    };
    const auto asked = static_cast<double>(near.asked + far.asked);
    const double is_near = static_cast<double>(near.asked) / asked;
    return {
        {"lookups of existing objects", asked},
        {"a copy within 3 hops", is_near, near_expected_.mean(), std::sqrt(is_near * (1 - is_near) / asked)},
        {"found, where a copy is near", near.success.mean(), certain, near.success.error()},
        {"  by the filters alone", 1 - near.gave_up, 1 - stray_expected_.mean(),
         std::sqrt(near.gave_up / static_cast<double>(std::max<std::uint64_t>(near.asked, 1)))},
        {"  hops", near.hops.mean(), {}, near.hops.error()},
        {"  stretch in hops, against the nearest copy", near.stretch.mean(), {}, near.stretch.error()},
        {"  bytes per lookup", near.bytes, {}, {}, "bytes"},
        {"found, where none is near", far.success.mean(), certain, far.success.error()},
        {"  false forwards per lookup", far.by_filter, astray, wrong(far)},
        {"  hops, most of them to the home", far.hops.mean(),
         astray + theory::ring_hops(static_cast<double>(nodes_)) + 1, far.hops.error()},
        {"  stretch in hops, against the nearest copy", far.stretch.mean(), {}, far.stretch.error()},
        {"  bytes per lookup", far.bytes, {}, {}, "bytes"},
        {"absent objects answered as absent", absent.success.mean(), certain, absent.success.error()},
        {"  false forwards per lookup", absent.by_filter, astray, wrong(absent)},
        {"bytes per change, on all links", change_bytes_.mean(),
         theory::attenuated_change_bytes(sizes_, degree, m, hashes, header, reply), change_bytes_.error(),
         "bytes"},
        {"bytes per change, by whole arrays", whole_bytes_.mean(), {}, whole_bytes_.error(), "bytes"},
    };
}

plot attenuated_run::found_by_copies() const {
    plot p{"A copy near by",
           "copies of the object",
           "share of the lookups",
           {{"measured", {}}, {"predicted", {}}}};
    for (const auto& [log, share] : near_by_copies_) {
        if (share.count() < 100) continue;
        const double copies = 1.5 * std::exp2(static_cast<double>(log) - 1);
        p.curves[0].points.emplace_back(copies, share.mean());
        p.curves[1].points.emplace_back(
            copies, theory::near_copy_probability(around(), static_cast<double>(nodes_), copies));
    }
    return p;
}

report attenuated_run::run() {
    build();
    const auto built = static_cast<double>(update_bytes());
    const auto published =
        static_cast<double>(net_.sent().bytes_of_kind[static_cast<std::size_t>(attenuated_kind::publish)] +
                            net_.sent().bytes_of_kind[static_cast<std::size_t>(attenuated_kind::kept)]);
    predict();
    std::vector<query> near, far, absent;
    for (std::uint64_t i = 0; i < queries_; ++i) {
        query q = draw_query();
        near_expected_.add(theory::near_copy_probability(
            around(), static_cast<double>(nodes_), static_cast<double>(world_.holders(q.object).size())));
        near_by_copies_[std::bit_width(world_.holders(q.object).size())].add(q.distance <= depth);
        if (q.distance <= depth) stray_expected_.add(theory::attenuated_straying(rates_, degree, q.distance));
        // Of those that are farther, the true distance is searched for a sample: it takes a pass over all
        // nodes.
        const bool is_near = q.distance <= depth;
        if (!is_near) q.distance = far.size() < 2000 ? world_.distance(q.by, q.object, 64) : 0;
        (is_near ? near : far).push_back(q);
    }
    for (std::uint64_t i = 0; i < queries_ / 2; ++i) absent.push_back({random_() % nodes_, objects_ + i, 0});
    const outcome near_found = ask(near), far_found = ask(far), absent_found = ask(absent);
    if (options_.churn == 0) {
        for (int i = 0; i < 300; ++i) change_one();
    }

    report r{
        "attenuated",
        fmt::format("{} nodes with {} neighbours, {} objects, {} levels of {} bits and {} hashes, seed {}",
                    nodes_, degree, objects_, depth, settings().terms.geometry.bits, hashes, options_.seed),
        figures(near_found, far_found, absent_found),
        {}};
    std::size_t memory = 0;
    net_.each([&](node_id, attenuated_node& n) { memory += n.memory(); });
    const auto n = static_cast<double>(objects_);
    r.figures.push_back({"nodes replaced", static_cast<double>(replaced_)});
    r.figures.push_back({"bytes to build the filters, per object", built / n, {}, {}, "bytes"});
    r.figures.push_back({"bytes to tell the homes, per object", published / n, {}, {}, "bytes"});
    r.figures.push_back(
        {"memory of all nodes, per object", static_cast<double>(memory) / n, {}, {}, "bytes"});
    r.plots.push_back(found_by_copies());
    return r;
}

}  // namespace

report run_attenuated(const options& o) { return attenuated_run(o).run(); }

}  // namespace posy::simulate
