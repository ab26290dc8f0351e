// Counters: how large they grow, and the bounds on their overflow.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "chapters.hpp"
#include "posy/counting_filter.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

// Sixteen bits per item and 11 hashes: as near to half full as whole numbers allow, and not above.
constexpr double counters_per_item = 16;
constexpr unsigned counter_hashes = 11;

struct counted {
    std::array<std::uint64_t, 16> with{};     // counters of each value
    std::array<std::uint64_t, 17> reached{};  // filters whose largest counter is at least this
    observed largest;
};

counted count(std::uint64_t keys, std::uint64_t trials) {
    counted c;
    const auto bits = static_cast<std::uint64_t>(counters_per_item) * keys;
    std::vector<std::uint64_t> numbers(keys);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    std::vector<digest> digests(keys);
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
        auto filter = take(counting_filter::make({.bits = bits,
                                                  .hashes = counter_hashes,
                                                  .layout = layout_id::spread,
                                                  .hash = hash_family::xxh3,
                                                  .seed = {.low = trial}}),
                           "papers");
        filter.hash()(numbers, digests);
        filter.insert(digests);
        unsigned most = 0;
        for (std::uint64_t i = 0; i < bits; ++i) {
            const unsigned value = filter.counters()[i];
            ++c.with[value];
            most = std::max(most, value);
        }
        c.largest.add(most);
        for (unsigned j = 0; j <= most; ++j) ++c.reached[j];
    }
    return c;
}

table bounds_table(const counted& c, data& d) {
    const double n = items, m = counters_per_item * n;
    table t{fmt::format("Counters of {} keys at m/n = {}, k = {}", items, counters_per_item, counter_hashes),
            {{"i", "P(c = i)", "measured", "m P(c ≥ i)", "m C(nk,i)/mⁱ", "m (enk/im)ⁱ", "m (e ln 2/i)ⁱ",
              "filters with max ≥ i"}}};
    d.rows = {{"count", "probability", "measured", "union_of_tails", "binomial_bound", "power_bound",
               "half_full_bound", "filters_reaching"}};
    const auto filters = static_cast<double>(c.largest.count());
    for (unsigned j = 0; j <= 16; ++j) {
        const bool seen = filters > 0;
        const std::vector<double> values{
            theory::counter_probability(j, n, m, counter_hashes),
            seen && j < 16 ? static_cast<double>(c.with[j]) / (m * filters) : -1,
            m * theory::counter_tail(j, n, m, counter_hashes),
            j > 0 ? theory::overflow_bound_binomial(j, n, m, counter_hashes) : -1,
            j > 0 ? theory::overflow_bound_power(j, n, m, counter_hashes) : -1,
            j > 0 ? theory::overflow_bound_half_full(j, m) : -1,
            seen ? static_cast<double>(c.reached[j]) / filters : -1};
        std::vector<cell> row{std::to_string(j)};
        csv_row plain{std::to_string(j)};
        for (const double value : values) {
            row.emplace_back(value < 0 ? "–" : fmt::format("{:.3g}", value));
            plain.push_back(value < 0 ? "" : fmt::format("{}", value));
        }
        t.rows.push_back(std::move(row));
        d.rows.push_back(std::move(plain));
    }
    return t;
}

table overflow_table() {
    const auto texts = texts_of(source::fan1998);
    const auto bound = std::ranges::find(texts, "overflow_bound", &printed_text::quantity);
    table t{"Four bits per counter: the bound on P(any counter reaches 16)",
            {{"m", fmt::format("printed: {} m", bound->printed), "m (e ln 2/16)¹⁶", "over 10⁶ sets"}}};
    for (const double m : {1e4, 1e6, 1e8, 1e10}) {
        t.rows.push_back({fmt::format("{:.0e}", m), fmt::format("{:.3g}", std::stod(bound->printed) * m),
                          fmt::format("{:.5g}", theory::overflow_bound_half_full(16, m)),
                          fmt::format("{:.3g}", theory::overflow_bound_sets(m, 1e6))});
    }
    return t;
}

table largest_table(std::span<const std::pair<std::uint64_t, counted>> sizes) {
    table t{"The largest counter",
            {{"keys", "Γ⁻¹(m)(1 + ln(kn/m)/ln Γ⁻¹(m))", "likely", "bits for it", "log2 log2 m",
              "measured mean", "largest", "filters"}}};
    for (const auto& [keys, c] : sizes) {
        const auto n = static_cast<double>(keys);
        const double m = counters_per_item * n;
        const bool seen = c.largest.count() != 0;
        t.rows.push_back(
            {fmt::format("{:.0f}", n),
             fmt::format("{:.2f}", theory::expected_maximum_counter(n, m, counter_hashes)),
             std::to_string(theory::likely_maximum_counter(n, m, counter_hashes)),
             std::to_string(std::bit_width(theory::likely_maximum_counter(n, m, counter_hashes))),
             fmt::format("{:.2f}", std::log2(std::log2(m))),
             seen ? fmt::format("{:.2f}", c.largest.mean()) : "–",
             seen ? std::to_string(c.largest.most()) : "–", std::to_string(c.largest.count())});
    }
    return t;
}

// One counter of four bits, in the papers' way, as an integer that wraps, and in ours, which is a real
// filter.
sheet stuck_sheet() {
    sheet t("counters_stuck", "A counter of four bits",
            {{"present", "the key is there, times"},
             {"left", "left at 15, then counted down"},
             {"wrapped", "wrapping"},
             {"ours", "ours"},
             {"found", "found in ours"}});
    auto filter = take(counting_filter::make(shape(1024, 1, 0)), "papers");
    const digest key = filter.hash()(std::string_view("key"));
    const auto ours = [&] { return filter.counters()[positions_of(filter.geometry(), key).front()]; };
    unsigned present = 0, left = 0, wrapped = 0;
    const auto row = [&] { t.row({present, left, wrapped, ours(), filter.may_contain(key) ? "yes" : "no"}); };
    for (present = 1; present <= 20; ++present) {
        left = std::min(15U, left + 1);
        wrapped = (wrapped + 1) % 16;
        filter.insert(key);
        if (present == 1 || present == 15 || present == 16 || present == 20) row();
    }
    for (present = 20; present-- > 0;) {
        left -= left > 0;
        wrapped = (wrapped + 15) % 16;
        filter.remove(key);
        if (present == 16 || present == 5 || present == 1 || present == 0) row();
    }
    return t;
}

}  // namespace

section write_counters(const laboratory& lab) {
    section s{"Counters and their overflow (Summary Cache; the survey, 2.5; the slides)", {}};
    const std::uint64_t trials = lab.trials(purpose::column);
    const std::array sizes{std::pair{items / 10, count(items / 10, trials)},
                           std::pair{items, count(items, trials)},
                           std::pair{items * 10, count(items * 10, lab.trials(purpose::rate))}};
    data d{"counters", {}};
    s.parts.emplace_back(heading{"counters/distribution"});
    s.parts.emplace_back(
        paragraph{"The papers bound the odds that any counter reaches i by m C(nk,i)/mⁱ, that by m "
                  "(enk/im)ⁱ, and that, for a filter at most half full, by m (e ln 2/i)ⁱ. The exact union "
                  "bound, m P(c ≥ i), stands before them; measured are counting filters of 4 bits per "
                  "counter, built with real keys. Above 1 a bound says nothing."});
    s.parts.emplace_back(bounds_table(sizes[1].second, d));
    s.parts.emplace_back(std::move(d));
    s.parts.emplace_back(heading{"counters/overflow"});
    s.parts.emplace_back(overflow_table());
    s.parts.emplace_back(heading{"counters/largest"});
    s.parts.emplace_back(largest_table(sizes));
    s.parts.emplace_back(
        paragraph{"The asymptotic formula for the largest counter has an error term that dies off with the "
                  "square of a logarithm; at these sizes it is still one or two too high. Likely is the "
                  "largest i that at least half a counter is expected to reach, and the bits that hold it "
                  "grow as log log m."});
    s.parts.emplace_back(heading{"counters/stuck"});
    s.parts.emplace_back(
        paragraph{"One key is inserted 20 times into counters of four bits and removed again. Left at 15 and "
                  "then counted down, as three of the documents have it, the counter is 0 while the key is "
                  "still there 5 times: a false negative. An integer that wraps, as the fourth warns, loses "
                  "the key at 16. Ours sticks: a saturated counter is never taken from."});
    stuck_sheet().append_to(s);
    return s;
}

}  // namespace posy::tool::papers
