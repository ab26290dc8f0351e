// Nodes with attenuated filters (posy/overlay/attenuated_node.hpp): 10,000 nodes, a million objects.
//
// Every node has four neighbours at random. The object of rank r has 1000/r copies at random nodes, at least
// one, and is asked for with a frequency of 1/r (copies.hpp). Requests for objects with a copy within d hops,
// for those without and for objects that do not exist are counted apart. Then objects come and go, one at a
// time, and the bytes on all links are counted.
//
// With churn, nodes fail and come back a minute later with their objects, but without what they knew as a
// home. A lookup counts if its asker stays up, and the holder of an only copy; it succeeds if a holder
// answers within five minutes, after as many attempts as it takes.
#include "attenuated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "posy/theory.hpp"
#include "systems.hpp"

namespace posy::simulate {
namespace attenuated {

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

void attenuated_run::pass_time(std::uint64_t ms) {
    outages_.pass(
        net_.now() + ms, random_, [&](std::uint64_t at) { net_.run_until(at); },
        [&](node_id who) { net_.crash(who); }, [&](node_id who) { join(who); });
}

std::uint32_t attenuated_run::lives_of(const query& q) const {
    const bool only = q.object < objects_ && world_.holders(q.object).size() == 1;
    return outages_.lives(q.by) + (only ? outages_.lives(world_.holders(q.object).front()) : 0);
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
    const std::uint64_t bytes_before = bytes(), began = net_.now();
    constexpr std::size_t at_a_time = 5000;
    const std::uint64_t pause = options_.loss > 0 ? 300'000 : 60'000;
    open_lookups open;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        query q = queries[i];
        if (net_.find(q.by) && (q.object >= objects_ || exists(q.object))) {
            q.lives = lives_of(q);
            net_.at(q.by, [&](attenuated_node& n, std::uint64_t now, outbox& out) {
                if (const auto id = n.look_up(key_of(q.object), now, out)) open[{q.by, *id}] = q;
            });
        }
        if ((i + 1) % at_a_time != 0 && i + 1 != queries.size()) continue;
        pass_time(pause);
        collect(open, all);
    }
    if (options_.churn > 0) pass_time(longest_wait - pause);
    collect(open, all);
    for (const auto& [of, q] : open) {
        if (q.lives == lives_of(q)) all.success.add(0), all.first.add(0);
    }
    const auto after = counted();
    all.asked = queries.size();
    const auto each = [&](std::uint64_t n) {
        return static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(queries.size(), 1));
    };
    all.by_filter = each(after.by_filter - before.by_filter);
    all.gave_up = each(after.gave_up - before.gave_up);
    all.bytes = each(bytes() - bytes_before);
    if (options_.churn > 0) {
        all.clumping = clumping_at_homes(queries);
        all.periods = static_cast<double>(net_.now() - began) / static_cast<double>(settings().republish);
    }
    return all;
}

double attenuated_run::clumping_at_homes(const std::vector<query>& queries) const {
    std::map<std::uint64_t, std::uint64_t> asked;  // by the node's point on the ring
    for (const node_id who : members_) asked[overlay::home_ring::point_of(who)] = 0;
    for (const query& q : queries) {
        const auto home = asked.lower_bound(overlay::home_ring::point_of(key_of(q.object)));
        ++(home == asked.end() ? asked.begin() : home)->second;
    }
    double sum = 0;
    for (const auto& [point, lookups] : asked) {
        const double share =
            static_cast<double>(lookups) / static_cast<double>(std::max<std::size_t>(queries.size(), 1));
        sum += share * share;
    }
    return sum;
}

// Lookups of which an end has failed do not count.
void attenuated_run::collect(open_lookups& open, outcome& all) {
    net_.each([&](node_id by, attenuated_node& node) {
        for (const auto& answer : node.take_answers()) {
            const auto found = open.find({by, answer.id});
            if (found == open.end()) continue;
            const query q = found->second;
            open.erase(found);
            if (q.lives != lives_of(q)) continue;
            const bool exists = q.object < objects_, denied = !answer.holder && !answer.timed_out;
            const bool right =
                exists ? answer.holder && std::ranges::binary_search(world_.holders(q.object), *answer.holder)
                       : denied;
            all.success.add(right);
            all.first.add(right && answer.attempts == 1);
            all.denied.add(exists && denied);
            all.hops.add(answer.hops);
            if (answer.holder && q.distance != 0)
                all.stretch.add(answer.hops / static_cast<double>(q.distance));
        }
    });
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

report attenuated_run::run() {
    build();
    outages_.begin(net_.now(), random_);
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
    if (options_.churn > 0) add_churn(r, near_found, far_found);
    r.figures.push_back({"bytes to build the filters, per object", built / n, {}, {}, "bytes"});
    r.figures.push_back({"bytes to tell the homes, per object", published / n, {}, {}, "bytes"});
    r.figures.push_back(
        {"memory of all nodes, per object", static_cast<double>(memory) / n, {}, {}, "bytes"});
    r.plots.push_back(found_by_copies());
    return r;
}

}  // namespace attenuated

report run_attenuated(const options& o) { return attenuated::attenuated_run(o).run(); }

}  // namespace posy::simulate
