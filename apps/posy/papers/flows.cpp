// Conservative update (the survey, 8.1 and Figure 2) and the applications' counts on false positives (5 to
// 8).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "chapters.hpp"
#include "posy/count_min.hpp"
#include "posy/spectral_filter.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

// ---- Figure 2 ---------------------------------------------------------------------------------------------

// The figure's flow has sent 2 bytes, as far as its counters tell, and sends 4 more.
constexpr std::uint64_t bytes_before = 2, bytes_new = 4;

// A sketch of either kind, and how it counts.
struct counter_sketch {
    std::string name;
    std::function<void(digest, std::uint32_t)> add;
    std::uint64_t counters;
    std::function<std::uint64_t(std::uint64_t)> counter;
};

// Where a flow's counters are: those that rise when it alone is counted.
std::vector<std::uint64_t> counters_of(counter_sketch empty, digest flow) {
    empty.add(flow, 1);
    std::vector<std::uint64_t> at;
    for (std::uint64_t i = 0; i < empty.counters; ++i) {
        if (empty.counter(i) != 0) at.push_back(i);
    }
    return at;
}

using maker = std::function<counter_sketch(bool conservative)>;

counter_sketch count_min_sketch(bool conservative, std::uint64_t seed) {
    const auto rule = conservative ? update_rule::conservative : update_rule::plain;
    const auto s = std::make_shared<count_min>(
        take(count_min::make(hasher(hash_family::xxh3, {.low = seed}), 8, 3, rule), "papers"));
    return {"Count-Min, 3 rows of 8", [s](digest d, std::uint32_t bytes) { s->add(d, bytes); }, s->counters(),
            [s](std::uint64_t i) { return s->counter(i); }};
}

counter_sketch spectral_sketch(bool conservative, std::uint64_t seed) {
    const auto method = conservative ? spectral_method::minimum_increase : spectral_method::minimum_selection;
    const auto s =
        std::make_shared<spectral_filter>(take(spectral_filter::make(shape(24, 3, seed), method), "papers"));
    return {"spectral filter, 24 counters, 3 hashes",
            [s](digest d, std::uint32_t bytes) { s->insert(d, bytes); }, s->geometry().bits,
            [s](std::uint64_t i) { return s->counter(i); }};
}

// Flows 1 to 5 send 1 to 5 bytes; then flow 0 has counters whose least is 2, one between that and 6, and one
// above 6, as soon as a seed gives such an example.
bool add_example(sheet& t, const std::function<counter_sketch(bool, std::uint64_t)>& make) {
    for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
        const hasher hash(hash_family::xxh3, {.low = seed});
        const auto at = counters_of(make(false, seed), hash(0));
        if (at.size() != 3) continue;
        counter_sketch plain = make(false, seed), conservative = make(true, seed);
        for (std::uint32_t flow = 1; flow <= 5; ++flow) {
            plain.add(hash(flow), flow);
            conservative.add(hash(flow), flow);
        }
        std::vector<std::uint64_t> before;
        for (const std::uint64_t i : at) before.push_back(conservative.counter(i));
        // Both rules start from the same counters, so that only the last packet tells them apart.
        const auto differs = [&](std::uint64_t i) { return plain.counter(i) != conservative.counter(i); };
        if (std::ranges::any_of(at, differs)) continue;
        auto sorted = before;
        std::ranges::sort(sorted);
        if (sorted[0] != bytes_before || sorted[1] <= bytes_before || sorted[1] >= bytes_before + bytes_new ||
            sorted[2] <= bytes_before + bytes_new)
            continue;
        plain.add(hash(0), bytes_new);
        conservative.add(hash(0), bytes_new);
        for (std::size_t i = 0; i < at.size(); ++i) {
            t.row({conservative.name, std::uint64_t{i + 1}, before[i], bytes_new, plain.counter(at[i]),
                   conservative.counter(at[i]), std::max(before[i], bytes_before + bytes_new)});
        }
        return true;
    }
    return false;
}

sheet conservative_sheet() {
    sheet t("sets_conservative", "A flow of at most 2 bytes sends 4 more",
            {{"sketch", "sketch"},
             {"counter", "counter"},
             {"before", "before"},
             {"bytes", "B"},
             {"plain", "plain"},
             {"conservative", "conservative"},
             {"formula", "max(c, M_k + B)"}});
    if (!add_example(t, count_min_sketch) || !add_example(t, spectral_sketch))
        throw failure("papers: no example of conservative update was found");
    return t;
}

// Light flows that are taken for heavy ones: packets of one byte, flow i as often as 1/i, in mixed order.
sheet heavy_sheet() {
    constexpr std::uint64_t flows = 20'000, packets = 200'000;
    constexpr std::uint32_t threshold = 200;
    sheet t("sets_heavy",
            fmt::format("{} packets of {} flows, flow i as often as 1/i; heavy from {} on", packets, flows,
                        threshold),
            {{"width", "counters, 4 rows of"},
             {"heavy", "heavy flows"},
             {"missed", "missed"},
             {"plain", "light flows taken for heavy: plain"},
             {"conservative", "conservative"}});
    std::vector<double> up_to(flows);
    double sum = 0;
    for (std::uint64_t i = 0; i < flows; ++i) up_to[i] = sum += 1 / static_cast<double>(i + 1);
    const hasher draw(hash_family::xxh3, {.low = 1}), hash(hash_family::xxh3, {.low = 2});
    std::vector<std::uint64_t> stream;
    std::vector<std::uint32_t> truth(flows);
    for (const digest d : digests_of(draw, {0, packets})) {
        const double at = std::ldexp(static_cast<double>(d.low >> 11), -53) * sum;
        const auto flow = static_cast<std::uint64_t>(std::ranges::upper_bound(up_to, at) - up_to.begin());
        stream.push_back(std::min(flow, flows - 1));
        ++truth[stream.back()];
    }
    for (const std::uint64_t width : {500, 1000, 2000}) {
        std::uint64_t wrong[2] = {0, 0}, heavy = 0, missed = 0;
        for (const bool conservative : {false, true}) {
            auto sketch = take(count_min::make(hash, width, 4,
                                               conservative ? update_rule::conservative : update_rule::plain),
                               "papers");
            sketch.add(stream);
            heavy = 0;
            for (std::uint64_t i = 0; i < flows; ++i) {
                const bool listed = sketch.estimate(hash(i)) >= threshold, is_heavy = truth[i] >= threshold;
                heavy += is_heavy;
                missed += is_heavy && !listed;
                wrong[conservative] += listed && !is_heavy;
            }
        }
        t.row({width, heavy, missed, wrong[0], wrong[1]});
    }
    return t;
}

// ---- Applications -----------------------------------------------------------------------------------------

constexpr std::uint64_t peer_items = 10'000;
constexpr std::uint64_t filter_bits = 8 * peer_items;
constexpr unsigned filter_hashes = 5;

double peer_rate() { return theory::spread_rate(peer_items, filter_bits, filter_hashes); }

// One line of the table: what is counted, by formula and in trials.
void add_application(sheet& t, const std::string& where, const std::string& what, double expected,
                     std::uint64_t trials, const std::function<double(std::uint64_t)>& once) {
    average seen;
    for (std::uint64_t trial = 0; trial < trials; ++trial) seen.add(once(trial));
    t.row({where,
           what,
           {fmt::format("{:.6g}", expected), expected},
           trials == 0 ? sheet::none()
                       : sheet::value(fmt::format("{:.6g} ± {:.2g}", seen.mean(), seen.error()), seen.mean()),
           seen.error()});
}

void add_exchanges(sheet& t, std::uint64_t trials) {
    constexpr std::uint64_t n = peer_items, bits = filter_bits;
    constexpr unsigned k = filter_hashes;
    const double f = peer_rate();
    add_application(t, "5.2", "S_A − S_B has 500 items: how many A sends", 500 * (1 - f), trials,
                    [&](std::uint64_t trial) {
                        const bloom_filter b = filter_of(shape(bits, k, trial), {500, n + 500});
                        return static_cast<double>(500 - found(b, {0, 500}));
                    });
    add_application(t, "5.3", "S_A ∩ S_B has 1,000 of 10,000 items: how many A sends", 1000 + f * (n - 1000),
                    trials, [&](std::uint64_t trial) {
                        const bloom_filter b = filter_of(shape(bits, k, trial), {n - 1000, 2 * n - 1000});
                        return static_cast<double>(found(b, {0, n}));
                    });
    add_application(t, "5.3", "… bits sent, the filter and identifiers of 64 bits (640,000 for S_A whole)",
                    bits + 64 * (1000 + f * (n - 1000)), trials, [&](std::uint64_t trial) {
                        const bloom_filter b = filter_of(shape(bits, k, trial), {n - 1000, 2 * n - 1000});
                        return static_cast<double>(bits + 64 * found(b, {0, n}));
                    });
    add_application(t, "6.1", "wrong children of 8 for 1,000 requests that one of them has", 7000 * f, trials,
                    [&](std::uint64_t trial) {
                        double wrong = 0;
                        for (std::uint64_t child = 1; child < 8; ++child) {
                            const bloom_filter list =
                                filter_of(shape(bits, k, 8 * trial + child), {child * n, (child + 1) * n});
                            wrong += static_cast<double>(found(list, {0, 1000}));
                        }
                        return wrong;
                    });
    add_application(t, "6.3", "levels of a square of side 1024, log2 k + 1", std::log2(1024) + 1, trials,
                    [](std::uint64_t) {
                        double levels = 1;
                        for (unsigned side = 1024; side > 1; side /= 2) ++levels;
                        return levels;
                    });
}

// The probability that a straight path is suspected: on the way some node finds all k of its bits set. A
// chain over the number of ones, because a node that was not suspected has set a bit.
double suspected_loops(std::uint64_t hops, std::uint64_t bits, unsigned k) {
    std::vector<double> ones(bits + 1);  // of paths that are not suspected so far
    ones[0] = 1;
    const auto m = static_cast<double>(bits);
    for (std::uint64_t hop = 0; hop < hops; ++hop) {
        std::vector<double> next(bits + 1);
        for (std::uint64_t x = 0; x <= bits; ++x) {
            std::vector<double> now(k + 1);  // new ones of this node
            now[0] = ones[x];
            for (unsigned hash = 0; hash < k; ++hash) {
                for (unsigned j = k; j > 0; --j) {
                    const double set = static_cast<double>(x + j);
                    now[j] = now[j] * set / m + now[j - 1] * (m - set + 1) / m;
                }
                now[0] *= static_cast<double>(x) / m;
            }
            for (unsigned j = 1; j <= k && x + j <= bits; ++j) next[x + j] += now[j];
        }
        ones = next;
    }
    double clean = 0;
    for (const double share : ones) clean += share;
    return 1 - clean;
}

void add_packets(sheet& t, std::uint64_t trials) {
    constexpr std::uint64_t header = 64, hops = 16, packets = 1000;
    add_application(
        t, "7.1", "loops suspected in 1,000 straight paths of 16 nodes, 64 bits in the header, 3 per node",
        packets * suspected_loops(hops, header, 3), trials, [&](std::uint64_t trial) {
            double suspected = 0;
            for (std::uint64_t packet = 0; packet < packets; ++packet) {
                bloom_filter filter =
                    take(bloom_filter::make(shape(header, 3, trial * packets + packet)), "papers");
                bool looped = false;
                for (std::uint64_t node = 0; node < hops; ++node) {
                    const digest mask = filter.hash()(node);
                    looped = looped || filter.may_contain(mask);
                    filter.insert(mask);
                }
                suspected += looped;
            }
            return suspected;
        });
    // The least marking probability of a flow is high when all its counters are shared with such flows.
    constexpr std::uint64_t counters = 1000, bad = 50, good = 10'000;
    const double f = theory::spread_rate(bad, counters, 4);
    add_application(t, "7.2",
                    "of 10,000 good flows, marked like 50 unresponsive ones: 1,000 counters, 4 per flow",
                    good * f, trials, [&](std::uint64_t trial) {
                        const bloom_filter marked = filter_of(shape(counters, 4, trial), {0, bad});
                        return static_cast<double>(found(marked, {bad, bad + good}));
                    });
    add_application(t, "7.2", "… and still after the hashes were changed", good * f * f, trials,
                    [&](std::uint64_t trial) {
                        const bloom_filter one = filter_of(shape(counters, 4, 2 * trial), {0, bad});
                        const bloom_filter two = filter_of(shape(counters, 4, 2 * trial + 1), {0, bad});
                        double both = 0;
                        for (std::uint64_t flow = bad; flow < bad + good; ++flow) {
                            both += one.may_contain(one.hash()(flow)) && two.may_contain(two.hash()(flow));
                        }
                        return both;
                    });
    constexpr std::uint64_t n = peer_items, bits = filter_bits;
    constexpr unsigned k = filter_hashes;
    add_application(
        t, "8.2", "false branches of 1,000 traced paths of 4 hops, each router with 3 other neighbours",
        12'000 * peer_rate(), trials, [&](std::uint64_t trial) {
            double branches = 0;
            for (std::uint64_t router = 0; router < 12; ++router) {
                const bloom_filter seen = filter_of(shape(bits, k, 100 + 12 * trial + router), {n, 2 * n});
                branches += static_cast<double>(found(seen, {0, 1000}));
            }
            return branches;
        });
}

}  // namespace

void add_flows(const laboratory& lab, section& s) {
    s.parts.emplace_back(heading{"sets/conservative"});
    s.parts.emplace_back(paragraph{
        "Figure 2: the flow's least counter is 2, so that it sent no more than 2 bytes; when it "
        "sends 4, no counter has to rise above 6, and one that is above stays. Both of our sketches "
        "do so; their other counters come of five other flows. The second table shows what it "
        "saves: no heavy flow is missed, and fewer light ones are taken for heavy."});
    conservative_sheet().append_to(s);
    heavy_sheet().append_to(s);

    s.parts.emplace_back(heading{"sets/applications"});
    s.parts.emplace_back(paragraph{fmt::format(
        "The applications give few numbers; what they count on is the false-positive rate, here f = {:.4f} "
        "(filters of 10,000 items, 8 bits each, 5 hashes) unless the line says otherwise.",
        peer_rate())});
    sheet t("sets_applications", fmt::format("Expected, and in {} trials", small_trials(lab)),
            {{"where", "survey"},
             {"what", "what"},
             {"expected", "by formula"},
             {"measured", "measured"},
             {"standard_error", ""}});
    add_exchanges(t, small_trials(lab));
    add_packets(t, small_trials(lab));
    t.append_to(s);
}

}  // namespace posy::tool::papers
