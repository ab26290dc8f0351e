// A tree of routers with a filter per interface: hosts join and leave groups, packets go up to the root and
// down to the members, and some where nobody is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <set>

#include "posy/packet/multicast_router.hpp"
#include "posy/theory.hpp"
#include "posy/theory/multicast.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

using packets::multicast_router;

constexpr std::size_t branches = 4, up = branches;
constexpr std::size_t most_levels = 8;  // what a few gigabytes of memory hold

// Of a whole tree.
constexpr std::size_t routers_of(std::size_t levels) { return (std::size_t{1} << 2 * levels) / 3; }

// The routers by levels, root first; the lowest have a host on each of their interfaces.
class tree {
  public:
    tree(std::size_t levels, std::uint64_t memberships, std::uint64_t seed) : levels_(levels) {
        std::uint64_t hash = seed << 32;
        for (std::size_t level = 0, width = 1; level < levels; ++level, width *= branches) {
            const multicast_router::settings s{
                .interfaces = branches + 1,
                .upstream = up,
                .groups = std::max<std::uint64_t>(8, memberships / (width * branches)),
                .rate = 0.02};
            for (std::size_t i = 0; i < width; ++i) {
                auto mine = s;
                mine.hash = ++hash;
                routers_.push_back(*multicast_router::make(mine));
            }
        }
    }
    std::size_t hosts() const { return routers_below() * branches; }
    std::size_t size() const { return routers_.size(); }

    // The join goes up, so that every router on the way knows below which interface the host is.
    bool change(std::size_t host, std::uint64_t group, bool join) {
        bool done = true;
        climb(host, [&](multicast_router& router, std::size_t, std::size_t interface) {
            done &=
                join ? router.join(interface, key_bytes(group)) : router.leave(interface, key_bytes(group));
        });
        return done;
    }

    struct delivery {
        std::set<std::size_t> hosts;
        std::uint64_t packets = 0;  // on all links downstream
    };
    // From a host up to the root, and down from every router on the way.
    delivery send(std::size_t host, std::uint64_t group) {
        delivery d;
        climb(host, [&](multicast_router&, std::size_t at, std::size_t interface) {
            spread(at, interface, group, d);
        });
        d.hosts.erase(host);
        return d;
    }

    // The expected packets in vain for a message from this host to these members, by the filters as they are.
    double expected_in_vain(std::size_t from, const std::set<std::size_t>& members) const {
        std::vector<double> rates(levels_), routers(levels_), used(levels_);
        for (std::size_t level = 0; level < levels_; ++level) {
            std::set<std::size_t> reached, links;
            const std::size_t below = hosts() >> 2 * (level + 1);  // hosts below an interface
            for (const std::size_t host : members) {
                if (host == from) continue;
                reached.insert(host / below / branches);
                links.insert(host / below);
            }
            reached.insert(from / below / branches);
            links.insert(from / below);  // where it came from nothing is sent back
            routers[level] = static_cast<double>(reached.size());
            used[level] = static_cast<double>(links.size());
            rates[level] = rate_of(level);
        }
        return theory::multicast_vain_packets(branches, rates, routers, used);
    }
    // Of the filters of a level.
    double rate_of(std::size_t level) const {
        if (rates_.empty()) {
            for (std::size_t l = 0, first = 0, width = 1; l < levels_;
                 ++l, first += width, width *= branches) {
                tally mean;
                for (std::size_t r = first; r < first + width; ++r) {
                    for (std::size_t i = 0; i < branches; ++i)
                        mean.add(routers_[r].filter(i).projection().false_positive_rate());
                }
                rates_.push_back(mean.mean());
            }
        }
        return rates_[level];
    }
    bool empty() const {
        return std::ranges::all_of(routers_, [](const multicast_router& r) {
            bool none = true;
            for (std::size_t i = 0; i < branches; ++i)
                none &= r.joins(i) == 0 && r.filter(i).projection().ones() == 0;
            return none;
        });
    }
    std::uint64_t bytes() const {
        std::uint64_t all = 0;
        for (const auto& r : routers_) all += branches * r.filter(0).geometry().bits;  // of 8 bits each
        return all;
    }

  private:
    std::size_t routers_below() const { return std::size_t{1} << 2 * (levels_ - 1); }
    // Routers are numbered level by level.
    template <class Visit>
    void climb(std::size_t host, const Visit& visit) {
        std::size_t place = host, width = hosts();
        std::size_t first = routers_.size();
        while (width > 1) {
            const std::size_t interface = place % branches;
            place /= branches;
            width /= branches;
            first -= width;
            visit(routers_[first + place], first + place, interface);
        }
    }
    void spread(std::size_t at, std::size_t arrived, std::uint64_t group, delivery& d) {
        for (const std::size_t i : routers_[at].forward(key_bytes(group), arrived)) {
            if (i == up) continue;  // climb() goes there
            descend(at * branches + 1 + i, group, d);
        }
    }
    void descend(std::size_t to, std::uint64_t group, delivery& d) {
        ++d.packets;
        if (to >= routers_.size()) {
            d.hosts.insert(to - routers_.size());
        } else {
            spread(to, up, group, d);
        }
    }

    std::size_t levels_;
    std::vector<multicast_router> routers_;
    mutable std::vector<double> rates_;
};

// The links downstream on which members are reached.
std::size_t needed(const std::set<std::size_t>& members, std::size_t from, std::size_t hosts) {
    std::size_t links = 0;
    for (std::size_t below = 1; below < hosts; below *= branches) {
        std::set<std::size_t> at;
        for (const std::size_t host : members) {
            if (host / below != from / below) at.insert(host / below);
        }
        links += at.size();
    }
    return links;
}

// The groups get the packets in turn, from hosts drawn at random.
struct losses {
    tally vain, expected, useful;
    std::uint64_t missed = 0;
};
losses send_packets(tree& t, const std::vector<std::set<std::size_t>>& members, std::uint64_t packets,
                    std::mt19937_64& random) {
    losses l;
    // A filter errs about a group or does not, for all its packets: the sample is one of groups.
    for (std::uint64_t group = 0; group < std::min<std::uint64_t>(members.size(), packets); ++group) {
        tally of_group;
        for (std::uint64_t i = group; i < packets; i += members.size()) {
            const std::size_t from = random() % t.hosts();
            const auto d = t.send(from, group);
            for (const std::size_t host : members[group]) l.missed += host != from && !d.hosts.contains(host);
            const std::size_t right = needed(members[group], from, t.hosts());
            of_group.add(static_cast<double>(d.packets) - static_cast<double>(right));
            l.useful.add(static_cast<double>(right));
            l.expected.add(t.expected_in_vain(from, members[group]));
        }
        l.vain.add(of_group.mean());
    }
    return l;
}

}  // namespace

report run_multicast(const options& o) {
    const std::uint64_t routers = number_of("--nodes", o.nodes, 1'000, 1, routers_of(most_levels));
    const std::uint64_t groups = number_of("--objects", o.objects, 10'000, 1);
    const std::uint64_t packets = number_of("--queries", o.queries, 50'000, 1);
    std::size_t levels = 2;
    while (routers_of(levels) < routers) ++levels;
    constexpr std::uint64_t members_per_group = 10;
    tree t(levels, groups * members_per_group, o.seed);
    std::mt19937_64 random(o.seed);
    std::vector<std::set<std::size_t>> members(groups);
    const auto toggle = [&](std::uint64_t group, std::size_t host) {
        const bool join = members[group].insert(host).second;
        if (!join) members[group].erase(host);
        return t.change(host, group, join);
    };
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < groups * members_per_group; ++i)
        refused += !toggle(i / members_per_group, random() % t.hosts());
    // Half of the members leave, and as many others come.
    for (std::uint64_t group = 0; group < groups; ++group) {
        const auto had = members[group];
        for (const std::size_t host : had) {
            if (random() % 2) refused += !toggle(group, host) + !toggle(group, random() % t.hosts());
        }
    }
    const losses l = send_packets(t, members, packets, random);
    const std::uint64_t bytes = t.bytes();
    for (std::uint64_t group = 0; group < groups; ++group) {
        for (const std::size_t host : std::set(members[group])) refused += !toggle(group, host);
    }
    report r{
        "multicast",
        fmt::format("{} routers ({} whole levels), {} hosts, {} groups of {} members, {} packets, seed {}",
                    t.size(), levels, t.hosts(), groups, members_per_group, packets, o.seed),
        {},
        {}};
    r.figures = {
        {"members that missed a packet", static_cast<double>(l.missed), 0.0, {}, ""},
        {"links per packet, to members", l.useful.mean(), {}, l.useful.error(), ""},
        {"links per packet, in vain", l.vain.mean(), l.expected.mean(), l.vain.error(), ""},
        {"joins and leaves that were refused", static_cast<double>(refused), 0.0, {}, ""},
        {"filters empty after all have left", t.empty() ? 1.0 : 0.0, 1.0, {}, ""},
        {"counters of a router, on average",
         static_cast<double>(bytes) / static_cast<double>(t.size()),
         {},
         {},
         "bytes"},
    };
    return r;
}

}  // namespace posy::simulate
