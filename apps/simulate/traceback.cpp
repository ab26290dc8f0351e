// Packets traced back over a random network (posy/packet/traceback.hpp): every router keeps a digest table of
// the traffic that it forwards, and victims ask for the way of packets that they got.
#include "posy/packet/traceback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "posy/packet/digest_table.hpp"
#include "posy/theory/traceback.hpp"
#include "systems.hpp"

namespace posy::simulate {
namespace {

using namespace packets;

constexpr std::uint64_t per_packet = 100;  // µs from one packet to the next
constexpr unsigned rings = 2;              // so that most routers have four neighbours

// Random rings through all routers.
topology random_topology(std::size_t routers, std::mt19937_64& random) {
    std::vector<router> all(routers);
    std::vector<std::size_t> order(routers);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (unsigned ring = 0; ring < rings; ++ring) {
        std::ranges::shuffle(order, random);
        for (std::size_t i = 0; i < routers; ++i)
            all[order[i]].neighbours.push_back(order[(i + 1) % routers]);
    }
    return topology(std::move(all));
}

// The next router on a shortest way to a destination, of each router.
std::vector<std::size_t> next_hops(const topology& network, std::size_t destination) {
    const std::size_t unknown = network.routers().size();
    std::vector<std::size_t> next(unknown, unknown), queue{destination};
    next[destination] = destination;
    for (std::size_t at = 0; at < queue.size(); ++at)
        for (const std::size_t other : network.routers()[queue[at]].neighbours)
            if (next[other] == unknown) {
                next[other] = queue[at];
                queue.push_back(other);
            }
    return next;
}

// An IPv4 packet of 28 bytes, as different from the others as its number.
imprint imprint_of_number(std::uint64_t number) {
    std::array<std::byte, 28> packet{};
    packet[0] = std::byte{0x45};
    packet[3] = std::byte{28};
    store_little(&packet[20], number);
    imprint made;
    (void)imprint::of(packet, packet.size(), link_type::raw_ip, made);
    return made;
}

struct sent {
    std::size_t source, destination;  // the latter by its number among the victims
};

// Traffic from anywhere to some victims, and what the routers remember of it.
class world {
  public:
    world(std::size_t routers, std::uint64_t packets, double rate, std::uint64_t seed)
        : random_(seed), network_(random_topology(routers, random_)) {
        // Pages of about a tenth of a router's traffic, which end when they are full.
        const digest_settings settings{
            .packets = page_packets(routers, packets), .rate = rate, .interval = packets * per_packet};
        for (std::size_t i = 0; i < routers; ++i) {
            digest_settings own = settings;
            own.seed = {random_(), random_()};
            tables_.push_back(*digest_table::make(own));
        }
        for (int i = 0; i < 100; ++i) {
            victims_.push_back(random_() % routers);
            hops_.push_back(next_hops(network_, victims_.back()));
        }
        for (std::uint64_t number = 0; number < packets; ++number) {
            traffic_.push_back({random_() % routers, random_() % victims_.size()});
            const imprint packet = imprint_of_number(number);
            for (const std::size_t router : way(traffic_.back()))
                *tables_[router].insert(packet, number * per_packet);
        }
    }

    static std::uint64_t page_packets(std::size_t routers, std::uint64_t packets) {
        return std::max<std::uint64_t>(8 * packets / routers / 10, 50);
    }

    struct trace {
        std::size_t path, asked, false_branches, missed;
        double expected, variance, rates;  // of false yeses; `rates` is their mean
    };
    // The way of a random packet, by what the routers say, and what of it is false.
    trace trace_one() {
        const std::uint64_t number = random_() % traffic_.size();
        const std::uint64_t time = number * per_packet, about = traffic_.size() * per_packet / 100;
        const auto path = way(traffic_[number]);
        const std::set<std::size_t> true_routers(path.begin(), path.end());
        const imprint packet = imprint_of_number(number);
        const time_window window{time - std::min(time, about), time + about};
        traceback search(network_, victims_[traffic_[number].destination]);
        trace t{path.size(), 0, 0, 0, 0, 0, 0};
        while (const auto router = search.next()) {
            const sightings found = tables_[*router].find(packet, window);
            const double f = found.false_positive_rate();
            search.answer(testimony{!found.seen.empty(), f});
            t.rates += f;
            if (true_routers.contains(*router)) continue;
            t.expected += f;
            t.variance += f * (1 - f);
        }
        t.asked = search.asked();
        t.rates /= static_cast<double>(t.asked);
        std::size_t right = 0;
        for (const trace_step& step : search.steps())
            ++(true_routers.contains(step.router) ? right : t.false_branches);
        t.missed = path.size() - right;
        return t;
    }

    // Of pages that are full.
    double bytes_per_packet() const {
        double bytes = 0, recorded = 0;
        for (const auto& table : tables_)
            for (std::size_t i = 0; i + 1 < table.pages().size(); ++i) {
                bytes += static_cast<double>(table.page_plan().memory_bytes());
                recorded += static_cast<double>(*table.pages()[i].filter.items());
            }
        return bytes / recorded;
    }

  private:
    std::vector<std::size_t> way(const sent& packet) const {
        const auto& next = hops_[packet.destination];
        std::vector<std::size_t> routers{packet.source};
        while (next[routers.back()] != routers.back()) routers.push_back(next[routers.back()]);
        return routers;
    }

    std::mt19937_64 random_;
    topology network_;
    std::vector<digest_table> tables_;
    std::vector<std::size_t> victims_;
    std::vector<std::vector<std::size_t>> hops_;
    std::vector<sent> traffic_;
};

struct outcome_of_traces {
    double paths_whole = 0, path = 0, asked = 0, false_branches = 0, expected = 0, deviation = 0, by_tree = 0;
};

outcome_of_traces trace_many(world& w, std::uint64_t queries) {
    outcome_of_traces sum;
    double variance = 0, rates = 0;
    const auto n = static_cast<double>(queries);
    for (std::uint64_t i = 0; i < queries; ++i) {
        const auto t = w.trace_one();
        sum.paths_whole += t.missed == 0;
        sum.path += static_cast<double>(t.path) / n;
        sum.asked += static_cast<double>(t.asked) / n;
        sum.false_branches += static_cast<double>(t.false_branches) / n;
        sum.expected += t.expected / n;
        variance += t.variance;
        rates += t.rates / n;
    }
    sum.paths_whole /= n;
    sum.deviation = std::sqrt(variance) / n;
    sum.by_tree = theory::false_branches(sum.path, 2 * rings, rates);
    return sum;
}

}  // namespace

report run_traceback(const options& o) {
    const std::size_t routers = number_of("--nodes", o.nodes, 1000, 10, 100'000);
    const std::uint64_t packets = number_of("--objects", o.objects, 1'000'000, 1000);
    const std::uint64_t queries = number_of("--queries", o.queries, 5000, 1);
    report r{"traceback",
             fmt::format("{} routers, {} packets, {} of them traced per row, seed {}", routers, packets,
                         queries, o.seed),
             {},
             {{"False branches per traced packet",
               "rate of a page",
               "routers",
               {{"measured", {}}, {"predicted", {}}}}}};
    const auto per_page = static_cast<double>(world::page_packets(routers, packets));
    for (const double rate : {0.001, 0.01, 0.03, 0.1}) {
        world w(routers, packets, rate, o.seed);
        const outcome_of_traces all = trace_many(w, queries);
        const auto name = [&](const char* what) { return fmt::format("{}, pages of rate {}", what, rate); };
        r.figures.push_back({name("ways found whole"), all.paths_whole, 1, {}, ""});
        r.figures.push_back({name("false branches"), all.false_branches, all.expected, all.deviation, ""});
        r.figures.push_back({name("… as in a tree"), all.false_branches, all.by_tree, {}, ""});
        r.figures.push_back({name("routers asked"), all.asked, {}, {}, ""});
        r.figures.push_back({name("memory per packet"),
                             w.bytes_per_packet(),
                             theory::page_bytes(per_page, rate) / per_page,
                             {},
                             "bytes"});
        r.plots[0].curves[0].points.emplace_back(rate, all.false_branches);
        r.plots[0].curves[1].points.emplace_back(rate, all.expected);
    }
    return r;
}

}  // namespace posy::simulate
