#include "posy/packet/heavy_flows.hpp"

#include <gtest/gtest.h>

#include "posy/count_min.hpp"
#include "posy/theory/flows.hpp"
#include "statistics.hpp"
#include "traffic.hpp"

namespace posy::packets {
namespace {

const hasher keyed(hash_family::siphash, {1, 2});

heavy_flows meter(const heavy_flow_options& o) { return std::move(*heavy_flows::make(o, keyed)); }

heavy_flows::report measured(heavy_flows& flows, const std::vector<made_packet>& traffic) {
    for (const auto& [key, size] : traffic) flows.add(key, size);
    return flows.so_far();
}

// What every report promises: bounds that hold, and nothing missing above its limit.
void check_promise(const heavy_flows::report& r, const exact_counts& truth) {
    exact_counts reported;
    for (const auto& flow : r.flows) {
        const std::uint64_t size = truth.at(flow.key);
        EXPECT_LE(flow.low, size);
        EXPECT_GE(flow.high, size);
        EXPECT_GE(flow.high, r.threshold);
        EXPECT_TRUE(reported.emplace(flow.key, size).second);
    }
    for (const auto& [key, size] : truth) {
        if (size < r.complete_from) continue;
        EXPECT_TRUE(reported.contains(key)) << size;
    }
}

std::vector<made_packet> ordinary() { return zipf_traffic(20'000, 80'000, 1.01, 1); }

TEST(heavy_flows, nothing_heavy_is_missing_and_bounds_hold) {
    const auto traffic = ordinary();
    const auto truth = count(traffic);
    // Thresholds of both kinds and none; filters and memories from ample to far too small.
    for (const std::uint64_t width : {16U, 512U, 4096U}) {
        for (const std::uint64_t entries : {2U, 64U, 1024U}) {
            for (const heavy_flow_options& o :
                 {heavy_flow_options{.threshold = 80'000}, heavy_flow_options{.share = 0.001},
                  heavy_flow_options{}, heavy_flow_options{.threshold = 80'000, .shield = false}}) {
                heavy_flow_options with = o;
                with.width = width;
                with.entries = entries;
                auto flows = meter(with);
                const auto r = measured(flows, traffic);
                check_promise(r, truth);
                EXPECT_LE(r.entries, entries);
                std::uint64_t total = 0;
                for (const auto& each : traffic) total += each.bytes;
                EXPECT_EQ(r.total, total);
            }
        }
    }
}

TEST(heavy_flows, an_ample_memory_is_complete_from_the_threshold_on) {
    const auto traffic = ordinary();
    auto by_size = meter({.width = 4096, .entries = 1024, .threshold = 100'000});
    EXPECT_EQ(measured(by_size, traffic).complete_from, 100'000U);
    auto by_share = meter({.width = 4096, .entries = 2048, .share = 0.002});
    const auto r = measured(by_share, traffic);
    EXPECT_EQ(r.complete_from, r.threshold);
    EXPECT_EQ(r.threshold, static_cast<std::uint64_t>(std::ceil(0.002 * static_cast<double>(r.total))));
}

// Theorem 3 bounds the expected number of entries; conservative update and shielding stay far below. The
// bound is an expectation, so a run above twice the bound would be an alarm by Markov with odds of 1/2 at
// most, and by Chernoff for 400 nearly independent flows with odds below 10^-30.
TEST(heavy_flows, entries_stay_below_the_prediction) {
    const auto traffic = ordinary();
    const auto truth = count(traffic);
    for (const std::uint64_t width : {500U, 1000U, 4000U}) {
        auto flows = meter({.width = width, .entries = 10'000, .threshold = 400'000});
        const auto r = measured(flows, traffic);
        const double k =
            theory::stage_strength(4e5, static_cast<double>(width), static_cast<double>(r.total));
        const double most =
            theory::multistage_entries(static_cast<double>(truth.size()), static_cast<double>(width), k, 4);
        EXPECT_LE(static_cast<double>(r.passed), 2 * most) << width;
    }
}

// The share of small flows that pass, beside Lemma 1, over many seeds. The flows that come first fill as many
// counters as their bytes can without passing. Tolerance: six standard deviations of a binomial count at the
// bound (odds below 10^-8).
TEST(heavy_flows, small_flows_pass_no_more_often_than_lemma_1_allows) {
    constexpr std::uint64_t threshold = 10'000, size = 1'000, width = 64, large = 20, small = 40;
    constexpr std::uint64_t seeds = 400;
    std::uint64_t passed = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        auto flows = std::move(
            *heavy_flows::make({.width = width, .stages = 2, .entries = 4096, .threshold = threshold},
                               hasher(hash_family::siphash, {seed, 7})));
        for (std::uint64_t i = 0; i < large; ++i) flows.add(flow_number(1'000'000 + i), threshold - size);
        const auto before = flows.so_far().passed;
        for (std::uint64_t i = 0; i < small; ++i) flows.add(flow_number(i), size);
        passed += flows.so_far().passed - before;
    }
    const double traffic = large * (threshold - size) + small * size;
    const double p =
        theory::multistage_pass_bound(size, threshold, theory::stage_strength(threshold, width, traffic), 2);
    const double trials = seeds * small;
    EXPECT_GT(static_cast<double>(passed), trials * p / 10);  // the bound is not idle here
    EXPECT_LE(static_cast<double>(passed), trials * p + 6 * std::sqrt(trials * p * (1 - p)));
}

// The estimates of the heavy flows, beside those of plain Count-Min in the same bytes.
TEST(heavy_flows, errors_are_several_times_below_those_of_plain_count_min) {
    const auto traffic = zipf_traffic(100'000, 400'000, 1.01, 2);
    const auto truth = count(traffic);
    auto flows = meter({.width = 2048, .stages = 4, .entries = 512, .share = 0.0005});
    const auto r = measured(flows, traffic);
    auto sketch = *count_min::with_bytes(keyed, flows.memory_bytes(), 4, update_rule::plain);
    for (const auto& [key, size] : traffic) sketch.add(keyed(key.bytes()), size);
    double ours = 0, plain = 0;
    at_least checked(100, "heavy flows");
    for (const auto& flow : r.flows) {
        const double size = static_cast<double>(truth.at(flow.key));
        if (size < static_cast<double>(r.threshold)) continue;
        ++checked;
        ours += static_cast<double>(flow.high) - size;
        plain += static_cast<double>(sketch.estimate(keyed(flow.key.bytes()))) - size;
    }
    EXPECT_LT(3 * ours, plain);
}

TEST(heavy_flows, a_flow_that_was_kept_is_counted_exactly) {
    auto flows = meter({.width = 256, .stages = 2, .entries = 256, .threshold = 200'000});
    at_least exact(20, "flows of later intervals");
    for (std::uint64_t interval = 1; interval <= 4; ++interval) {
        const auto traffic = zipf_traffic(5'000, 50'000, 1.1, interval);
        const auto truth = count(traffic);
        measured(flows, traffic);
        const auto r = flows.close();
        check_promise(r, truth);
        for (const auto& flow : r.flows) {
            if (interval == 1 || truth.at(flow.key) < 300'000) continue;
            EXPECT_EQ(flow.low, flow.high);
            EXPECT_EQ(flow.low, truth.at(flow.key));
            ++exact;
        }
        EXPECT_EQ(flows.so_far().total, 0U);
        EXPECT_TRUE(flows.so_far().flows.empty());
    }
}

TEST(heavy_flows, entries_of_flows_that_end_are_freed) {
    auto flows = meter({.width = 256, .entries = 64, .threshold = 1000});
    for (std::uint64_t interval = 0; interval < 50; ++interval) {
        for (std::uint64_t i = 0; i < 30; ++i) flows.add(flow_number(100 * interval + i), 2000);
        const auto r = flows.close();
        EXPECT_EQ(r.flows.size(), 30U);
        EXPECT_EQ(r.complete_from, 1000U);
    }
}

TEST(heavy_flows, flows_beyond_32_bits) {
    auto flows = meter({.width = 16, .stages = 2, .entries = 4, .threshold = std::uint64_t{1} << 40});
    const auto key = flow_number(1);
    for (int i = 0; i < 511; ++i) flows.add(key, std::uint64_t{1} << 31);
    EXPECT_TRUE(flows.so_far().flows.empty());  // just below 2^40
    flows.add(key, std::uint64_t{1} << 40);
    const auto r = flows.so_far();
    ASSERT_EQ(r.flows.size(), 1U);
    EXPECT_EQ(r.flows[0].high, (std::uint64_t{511} << 31) + (std::uint64_t{1} << 40));
    // More of them than entries: all bounds still hold.
    exact_counts truth;
    for (std::uint64_t i = 0; i < 40; ++i) {
        flows.add(flow_number(i), std::uint64_t{1} << 41);
        truth[flow_number(i)] += std::uint64_t{1} << 41;
    }
    truth[key] += (std::uint64_t{511} << 31) + (std::uint64_t{1} << 40);
    check_promise(flows.so_far(), truth);
}

TEST(heavy_flows, impossible_options_are_refused) {
    for (const heavy_flow_options& o :
         {heavy_flow_options{.width = 0}, heavy_flow_options{.stages = 0}, heavy_flow_options{.stages = 17},
          heavy_flow_options{.entries = 1}, heavy_flow_options{.share = 1}, heavy_flow_options{.share = -0.1},
          heavy_flow_options{.keep = 2}, heavy_flow_options{.width = std::uint64_t{1} << 31}})
        EXPECT_EQ(heavy_flows::make(o, keyed).error().kind, error_kind::invalid);
}

}  // namespace
}  // namespace posy::packets
