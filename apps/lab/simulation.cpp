#include "simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "node/local_set.hpp"
#include "object_index.hpp"
#include "posy/http_cache/memory_store.hpp"
#include "posy/http_cache/s3_fifo.hpp"
#include "posy/subscriber.hpp"
#include "report.hpp"
#include "side_by_side.hpp"

namespace posy::lab {

namespace {

using object_id = std::uint32_t;

std::string_view key_of(const object_id& object) {
    return {reinterpret_cast<const char*>(&object), sizeof object};
}

// The store of one proxy: what it holds, in the order of the queues.
class simulated_store {
  public:
    explicit simulated_store(std::uint64_t memory) : queues_(memory - memory / 8) {
        const auto budget = memory - memory / 8;
        const auto shards = std::clamp<std::uint64_t>(budget / http_cache::least_shard, 1, 8);
        largest_ = budget / shards / http_cache::largest_object_divisor;
    }
    bool has(object_id object) const { return index_.find(object) != nullptr; }
    bool find(object_id object) {
        const auto* found = index_.find(object);
        if (!found) return false;
        queues_.use(*found);
        return true;
    }
    // evicted(object) for each that had to go. False: it is too large.
    template <class Evicted>
    bool put(object_id object, std::uint64_t bytes, const Evicted& evicted) {
        if (bytes > largest_) return false;
        const auto drop = [&](queues::handle at) {
            const object_id old = at->value;
            index_.erase(old);
            evicted(old);
        };
        index_.insert(object, queues_.insert(object * 0x9e3779b97f4a7c15U, bytes, object, drop));
        return true;
    }
    std::size_t size() const { return index_.size(); }
    template <class Visit>
    void for_each(const Visit& visit) const {
        index_.for_each(visit);
    }

  private:
    using queues = http_cache::s3_fifo<object_id>;
    queues queues_;
    object_index<queues::handle> index_;
    std::uint64_t largest_;
};

// A set that is published, and what its followers hold of it.
struct published_set {
    published_set(const node::options& how, node::local_set::key_source all)
        : set(how, std::move(all), [] { return std::uint64_t{1}; }) {}
    node::local_set set;
    subscriber known;
    bool said(digest d) const { return known.filter() && known.filter()->may_contain(d); }
    double own_memory() const { return static_cast<double>(set.describe().bits) * 5 / 8; }  // 4-bit counters
    double known_memory() const {
        return known.filter() ? static_cast<double>(known.filter()->geometry().bits) / 8 : 0;
    }
};

node::options options_of(const setting& how, std::uint64_t items) {
    node::options o;
    o.sharing = how.sharing;
    o.items = items;
    o.rate = how.rate;
    o.change = how.change;
    o.change_bits = how.change_bits;
    o.misled = how.misled;
    o.interval = std::chrono::hours(24 * 365);
    return o;
}

class simulation {
  public:
    simulation(workload& load, const setting& how, const arrangement& arranged)
        : load_(load), how_(how), holders_(load.objects()), summaries_(how.proxies) {
        out_.seen.how = how;
        out_.how = arranged;
        if (arranged.structure == structure::mesh) out_.how.group = how.proxies;
        groups_ = (how.proxies + out_.how.group - 1) / out_.how.group;
        for (std::uint32_t i = 0; i < how.proxies; ++i) stores_.emplace_back(how.memory);
        if (!how.updates()) return;
        const auto mine = options_of(how, how.items);
        hash_ = hasher(mine.hash, mine.seed);
        for (std::uint32_t i = 0; i < how.proxies; ++i) {
            const auto all = [this, i](const node::local_set::visit& visit) {
                stores_[i].for_each([&](object_id object) { visit(key_of(object)); });
            };
            publish_by(sets_, mine, all, members_of(i / out_.how.group) - 1,
                       [this, i](const subscriber& s) { summaries_.replace(i, s.shared_filter()); });
        }
        if (!beyond()) return;
        const auto ours = options_of(how, how.items * out_.how.group);
        const auto receivers = arranged.structure == structure::tree ? 1 : groups_ - 1;
        for (std::uint32_t g = 0; g < groups_; ++g) {
            const auto all = [this, g](const node::local_set::visit& visit) {
                for (std::uint32_t i = first_of(g); i < first_of(g) + members_of(g); ++i)
                    stores_[i].for_each([&](object_id object) { visit(key_of(object)); });
            };
            publish_by(unions_, ours, all, receivers, [](const subscriber&) {});
        }
    }

    simulated_outcome run(const on_progress& progress) {
        const auto start = std::chrono::steady_clock::now();
        while (const auto asked = load_.next()) {
            request(asked->proxy, asked->object);
            if (++out_.seen.requests % 65536 == 0 && progress) progress(out_.seen.requests);
        }
        out_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        take_stock();
        return std::move(out_);
    }

  private:
    std::uint32_t first_of(std::uint32_t group) const { return group * out_.how.group; }
    std::uint32_t members_of(std::uint32_t group) const {
        return std::min(out_.how.group, how_.proxies - first_of(group));
    }
    // Is anything known of other groups?
    bool beyond() const {
        return how_.updates() && groups_ > 1 &&
               (out_.how.structure == structure::groups || out_.how.structure == structure::tree);
    }

    using on_arrival = std::function<void(const subscriber&)>;
    void publish_by(std::vector<std::unique_ptr<published_set>>& sets, const node::options& how,
                    node::local_set::key_source all, std::uint32_t receivers, on_arrival arrived) {
        sets.push_back(std::make_unique<published_set>(how, std::move(all)));
        auto& made = *sets.back();
        made.set.on_publish = [this, &made, receivers, arrived] {
            send(made, receivers);
            arrived(made.known);
        };
        out_.seen.framing_bytes += stream_head_bytes * receivers;
        made.set.on_publish();
    }

    // As a stream does: what its reader holds decides what it gets.
    void send(published_set& from, std::uint64_t receivers) {
        const auto held = from.known.edition();
        const auto reply = from.set.summary({held ? node::tag_of(*held) : "", true});
        if (!reply.message) return;
        const auto size = reply.message->size();
        const auto became = from.known.receive(*reply.message, 0, sequence::any);
        if (became != reception::replaced && became != reception::updated)
            throw std::logic_error("a summary that was sent could not be used");
        const bool delta = reply.what == publisher::reply::kind::delta;
        (delta ? out_.seen.delta_bytes : out_.seen.whole_bytes) += size * receivers;
        out_.seen.framing_bytes += (node::chunk_start(size).size() + node::chunk_end.size()) * receivers;
        out_.messages += receivers;
    }

    void request(std::uint32_t proxy, object_id object) {
        auto& seen = out_.seen;
        if (stores_[proxy].find(object)) {
            ++seen.local;
            if (how_.updates()) sets_[proxy]->set.asked(key_of(object));
            return;
        }
        const auto holder = how_.sharing == node::sharing::ask ? holder_by_asking(proxy, object)
                            : how_.updates()                   ? holder_by_summaries(proxy, object)
                                                               : std::nullopt;
        if (holder && stores_[*holder].find(object)) {
            ++seen.sibling;
            out_.beyond += *holder / out_.how.group != proxy / out_.how.group;
            if (how_.keep_siblings) store(proxy, object);
            return;
        }
        if (holder) {
            const bool filter = sets_[*holder]->set.may_contain(key_of(object));
            ++(filter ? seen.false_by_filter : seen.false_by_age);
            if (!filter) sets_[*holder]->set.asked(key_of(object));
        }
        ++seen.origin;
        seen.false_misses += holders_[object] > 0;
        store(proxy, object);
    }

    // Everyone of the group is asked, and one that has it is taken.
    std::optional<std::uint32_t> holder_by_asking(std::uint32_t proxy, object_id object) {
        const auto group = proxy / out_.how.group;
        ask(members_of(group) - 1);
        for (std::uint32_t i = first_of(group); i < first_of(group) + members_of(group); ++i)
            if (i != proxy && stores_[i].has(object)) return i;
        return std::nullopt;
    }

    // Among those whose summaries say yes one is as good as another: the search starts anywhere.
    std::optional<std::uint32_t> holder_by_summaries(std::uint32_t proxy, object_id object) {
        const digest d = hash_(key_of(object));
        const auto group = proxy / out_.how.group;
        if (const auto near = member_with(group, d, proxy)) return near;
        if (!beyond()) return std::nullopt;
        const bool tree = out_.how.structure == structure::tree;
        // To the leader, unless that is who asks; in a tree on to the root, unless the leader is that.
        ask((proxy != first_of(group)) + (tree && group != 0));
        for (std::uint32_t i = 0, at = static_cast<std::uint32_t>(d.high % groups_); i < groups_; ++i) {
            const auto other = at + i < groups_ ? at + i : at + i - groups_;
            if (other == group || !unions_[other]->said(d)) continue;
            ask(1);  // its leader, who knows which member it is
            return member_with(other, d, how_.proxies);
        }
        return std::nullopt;
    }

    std::optional<std::uint32_t> member_with(std::uint32_t group, digest d, std::uint32_t except) {
        const auto first = first_of(group), count = members_of(group);
        const auto start = static_cast<std::uint32_t>(d.low % count);
        const auto place = summaries_.find(d, first, count, start, except);
        return place < count ? std::optional(first + place) : std::nullopt;
    }

    void ask(std::uint64_t questions) {
        out_.questions += questions;
        out_.seen.question_bytes += questions * question_bytes;
    }

    void store(std::uint32_t proxy, object_id object) {
        const auto group = proxy / out_.how.group;
        const auto left = [&](object_id old) {
            --holders_[old];
            if (how_.updates()) sets_[proxy]->set.remove(key_of(old));
            if (beyond()) unions_[group]->set.remove(key_of(old));
        };
        if (!stores_[proxy].put(object, load_.bytes_of(object) + stored_overhead, left)) return;
        ++holders_[object];
        if (how_.updates()) sets_[proxy]->set.insert(key_of(object));
        if (beyond()) unions_[group]->set.insert(key_of(object));
        if (how_.updates() && ++stored_ % 4096 == 0)
            sets_[proxy]->set.tick();  // it may have outgrown its plan
        if (beyond() && stored_ % 4096 == 1) unions_[group]->set.tick();
    }

    void take_stock() {
        const double count = how_.proxies;
        for (const auto& each : stores_) out_.seen.objects += static_cast<double>(each.size()) / count;
        double unions = 0;
        for (const auto& each : unions_) unions += each->known_memory();
        for (std::uint32_t i = 0; i < sets_.size(); ++i) {
            out_.own_memory += sets_[i]->own_memory() / count;
            const auto group = i / out_.how.group;
            double others = 0;
            for (std::uint32_t j = first_of(group); j < first_of(group) + members_of(group); ++j)
                others += j == i ? 0 : sets_[j]->known_memory();
            const bool leads = i == first_of(group);
            if (beyond() && leads) {
                others += unions_[group]->own_memory();
                if (out_.how.structure == structure::groups || group == 0)
                    others += unions - unions_[group]->known_memory();
            }
            out_.others_memory += others / count;
            out_.most_others_memory = std::max(out_.most_others_memory, others);
        }
    }

    workload& load_;
    setting how_;
    simulated_outcome out_;
    std::uint32_t groups_ = 1;
    std::vector<std::uint8_t> holders_;  // of each object
    std::vector<simulated_store> stores_;
    side_by_side summaries_;
    std::vector<std::unique_ptr<published_set>> sets_, unions_;
    hasher hash_;
    std::uint64_t stored_ = 0;
};

}  // namespace

simulated_outcome simulate(workload& load, const setting& how, const arrangement& arranged,
                           const on_progress& progress) {
    return simulation(load, how, arranged).run(progress);
}

std::string simulated_table(const std::vector<simulated_outcome>& all) {
    std::string text =
        "| structure | sharing | update at | local % | sibling % | of other groups % | hits % | false by "
        "filter "
        "% | false by age % | false misses % | bytes/req | whole | delta | questions | framing | messages "
        "per 1000 "
        "req | questions per 1000 req | objects | own filter KiB | others' KiB | most KiB | seconds |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (const auto& o : all) {
        const auto& s = o.seen;
        const auto percent = [&](std::uint64_t n) { return 100 * s.share(n); };
        text += fmt::format(
            "| {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {:.1f} | {:.2f} | {:.2f} "
            "| "
            "{:.2f} | {:.2f} | {:.2f} | {:.1f} | {:.1f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |\n",
            o.how.structure == structure::mesh
                ? "mesh"
                : fmt::format("{} of {}", name_of(o.how.structure), o.how.group),
            name_of(s.how.sharing), update_of(s.how), percent(s.local), percent(s.sibling), percent(o.beyond),
            percent(s.local + s.sibling), percent(s.false_by_filter), percent(s.false_by_age),
            percent(s.false_misses), s.bytes_per_request(), s.share(s.whole_bytes), s.share(s.delta_bytes),
            s.share(s.question_bytes), s.share(s.framing_bytes), 1000 * s.share(o.messages),
            1000 * s.share(o.questions), s.objects, o.own_memory / 1024, o.others_memory / 1024,
            o.most_others_memory / 1024, o.seconds);
    }
    return text;
}

}  // namespace posy::lab
