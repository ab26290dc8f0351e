// Flows that yield and one that does not, over one link: what each gets with drop-tail, RED and Stochastic
// Fair Blue; and who is punished by accident, until the hashes change.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "bottleneck.hpp"
#include "posy/theory/fair_blue.hpp"
#include "systems.hpp"
#include "tally.hpp"

namespace posy::simulate {
namespace {

constexpr std::size_t limit = 2'000;  // packets: half of what is on its way in a round trip
constexpr std::uint64_t second = 1'000'000;

struct shares {
    double unyielding = 0, yielding = 0;  // of what would be their shares
    double fairness = 0;                  // Jain's index of the flows that yield
    double used = 0;                      // of the link
};

shares measure(packet_queue& queue, const bottleneck_settings& s, std::uint64_t seed) {
    bottleneck link(s, queue, seed);
    link.run_until(20 * second);
    link.forget();
    link.run_until(80 * second);
    const double capacity = 60 * s.rate, share = capacity / (s.yielding + s.unyielding);
    shares all;
    double sum = 0, squares = 0, bad = 0;
    for (std::uint32_t i = 0; i < s.yielding + s.unyielding; ++i) {
        const auto got = static_cast<double>(link.delivered()[i]);
        (i < s.yielding ? sum : bad) += got;
        if (i < s.yielding) squares += got * got;
    }
    all.unyielding = bad / (share * s.unyielding);
    all.yielding = sum / (share * s.yielding);
    all.fairness = sum * sum / (s.yielding * squares);
    all.used = (sum + bad) / capacity;
    return all;
}

packets::fair_blue_settings settings_for(const bottleneck_settings& s, std::uint64_t seed) {
    packets::fair_blue_settings b;
    b.limit = limit;
    b.penalty_rate = s.rate / (s.yielding + s.unyielding) * s.unyielding;
    b.seed = seed;
    return b;
}

struct accidents {
    tally punished;  // flows that yield, per choice of hashes
    std::uint64_t again = 0, freed = 0;
};

// With few bins, as in the paper, over many changes of the hashes.
accidents count_accidents(bottleneck_settings s, std::uint64_t changes, std::uint64_t seed) {
    auto b = settings_for(s, seed);
    b.levels = 2;
    b.bins = 23;
    b.rehash = 8 * second;
    b.warm_up = 4 * second;
    fair_blue_of_flows queue(b);
    bottleneck link(s, queue, seed);
    link.run_until(b.rehash);
    accidents all;
    std::set<std::uint32_t> before;
    for (std::uint64_t i = 0; i < changes; ++i) {
        // In the middle of the time of these hashes.
        link.run_until((i + 1) * b.rehash + b.rehash / 2);
        std::set<std::uint32_t> now;
        for (std::uint32_t flow = 0; flow < s.yielding; ++flow) {
            if (queue.punishes(flow)) now.insert(flow);
        }
        all.punished.add(static_cast<double>(now.size()));
        for (const std::uint32_t flow : before) ++(now.contains(flow) ? all.again : all.freed);
        before = std::move(now);
    }
    return all;
}

}  // namespace

report run_blue(const options& o) {
    bottleneck_settings s;
    s.yielding = static_cast<std::uint32_t>(number_of("--nodes", o.nodes, 400, 1));
    const std::uint64_t changes = number_of("--queries", o.queries, 100, 1);
    drop_tail tail(limit);
    red early(limit);
    fair_blue_of_flows blue(settings_for(s, o.seed));
    const shares with_tail = measure(tail, s, o.seed), with_red = measure(early, s, o.seed),
                 with_blue = measure(blue, s, o.seed);
    const accidents a = count_accidents(s, changes, o.seed);
    const double odds = theory::fair_blue_accident(2, 23, s.unyielding);
    report r{
        "blue",
        fmt::format("{} flows that yield and {} at {} of {} packets/s, 60 s after 20 s; accidents over {} "
                    "changes of hashes; seed {}",
                    s.yielding, s.unyielding, s.unyielding_rate, s.rate, changes, o.seed),
        {},
        {}};
    const auto add = [&](const std::string& name, const shares& got, bool fair) {
        const auto predicted = [&](double x) { return fair ? std::optional(x) : std::nullopt; };
        r.figures.push_back(
            {name + ": who does not yield, of its share", got.unyielding, predicted(1), {}, ""});
        r.figures.push_back({"  those that yield, of theirs", got.yielding, predicted(1), {}, ""});
        r.figures.push_back({"  fairness among them (Jain)", got.fairness, {}, {}, ""});
        r.figures.push_back({"  use of the link", got.used, {}, {}, ""});
    };
    add("drop-tail", with_tail, false);
    add("RED", with_red, false);
    add("fair blue", with_blue, true);
    r.figures.push_back({"punished by accident, 2 levels of 23 bins", a.punished.mean(), odds * s.yielding,
                         std::sqrt(odds * s.yielding / static_cast<double>(changes)), ""});
    r.figures.push_back({"  freed by the next change of hashes",
                         static_cast<double>(a.freed) / std::max(1.0, static_cast<double>(a.freed + a.again)),
                         1 - odds, std::sqrt(odds / std::max(1.0, static_cast<double>(a.freed + a.again))),
                         ""});
    return r;
}

}  // namespace posy::simulate
