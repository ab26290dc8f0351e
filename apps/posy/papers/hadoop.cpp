// Appendix A of MapReduce Design Patterns (Miner and Shook 2012): Figures, their Java helpers as
// they compute, and the examples of the text.
#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "chapters.hpp"
#include "numbers.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

using std::numbers::ln2;

constexpr double rates[] = {0.1, 0.01, 0.001};
constexpr std::int32_t sizes[] = {1, 1000, 10'000, 1'000'000, 100'000'000, 1'000'000'000};

sheet size_sheet() {
    sheet t("hadoop_size", "Bits for n items at a rate of p",
            {{"items", "n"},
             {"rate", "p"},
             {"formula", "−n ln p/(ln 2)²"},
             {"helper", "getOptimalBloomFilterSize(n, p)"},
             {"posy", "rounded up, in 64 bits"},
             {"best_rate", "0.6185^(m/n) of the helper's m"}});
    for (const std::int32_t n : sizes) {
        for (const double p : rates) {
            const double exact = -n * std::log(p) / (ln2 * ln2);
            const std::int32_t helper = theory::hadoop_printed_bits(n, static_cast<float>(p));
            t.row(
                {n,
                 p,
                 {tool::count(std::floor(exact)) + fmt::format("{:.2f}", exact - std::floor(exact)).substr(1),
                  exact},
                 {tool::count(helper), 1.0 * helper},
                 {tool::count(static_cast<double>(theory::hadoop_bits(n, p))),
                  static_cast<double>(theory::hadoop_bits(n, p))},
                 {fmt::format("{:.6g}", theory::optimal_rate(1.0 * helper / n)),
                  theory::optimal_rate(1.0 * helper / n)}});
        }
    }
    return t;
}

sheet hashes_sheet(bool measured) {
    constexpr std::uint64_t absent = 1'000'000;
    sheet t("hadoop_hashes", "Hashes for n items in the helper's m bits, and the rate that results",
            {{"items", "n"},
             {"rate", "p"},
             {"bits", "m"},
             {"formula", "m ln 2/n"},
             {"helper", "getOptimalK(n, m)"},
             {"expected", "rate, expected"},
             {"measured", "measured, n = 10,000"},
             {"queries", ""}});
    for (const std::int32_t n : sizes) {
        for (const double p : rates) {
            const std::int32_t m = theory::hadoop_printed_bits(n, static_cast<float>(p));
            const std::int32_t k =
                theory::hadoop_printed_hashes(static_cast<float>(n), static_cast<float>(m));
            const double expected = theory::spread_rate(n, m, static_cast<unsigned>(k));
            sheet::value seen = sheet::none();
            if (measured && n == 10'000) {
                const auto filter =
                    filter_of(shape(static_cast<std::uint64_t>(m), static_cast<unsigned>(k), 3), {0, 10'000});
                seen = static_cast<double>(found(filter, {10'000, 10'000 + absent})) / absent;
            }
            t.row({n, p, m, ln2 * m / n, k, expected, seen, measured && n == 10'000 ? absent : 0});
        }
    }
    return t;
}

// A filter sized by the helpers for 100,000 keys at 1 %, asked for ten million that it does not have.
sheet tests_sheet(bool measured) {
    constexpr std::int32_t n = 100'000;
    constexpr std::uint64_t tests = 10'000'000, batch = 1'000'000;
    sheet t("hadoop_examples", "Ten million tests that should be negative, at a rate of 1 %",
            {{"printed", "printed"},
             {"expected", "expected of the helpers' filter"},
             {"measured", "measured"},
             {"deviation", "deviation"}});
    const std::int32_t m = theory::hadoop_printed_bits(n, 0.01F);
    const std::int32_t k = theory::hadoop_printed_hashes(n, static_cast<float>(m));
    const double f = theory::spread_rate(n, m, static_cast<unsigned>(k));
    const double zeros = theory::zero_probability(n, m, k);
    const double slope = k * std::pow(1 - zeros, k - 1) / m;
    const double deviation =
        std::sqrt(tests * f * (1 - f) + std::pow(tests * slope, 2) * theory::zero_count_variance(n, m, k));
    sheet::value seen = sheet::none();
    if (measured) {
        const auto filter =
            filter_of(shape(static_cast<std::uint64_t>(m), static_cast<unsigned>(k), 5), {0, n});
        std::uint64_t yes = 0;
        for (std::uint64_t first = n; first < n + tests; first += batch)
            yes += found(filter, {first, first + batch});
        seen = yes;
    }
    t.row({100'000,
           {fmt::format("{:.0f}", tests * f), tests * f},
           seen,
           {fmt::format("{:.0f}", deviation), deviation}});
    return t;
}

// Keys of 32 and of 1024 characters: one array each, of one size.
sheet lengths_sheet() {
    constexpr std::uint64_t n = 1000;
    sheet t("hadoop_lengths", fmt::format("{} keys", n),
            {{"characters", "characters"},
             {"text_bytes", "bytes of the keys"},
             {"filter_bytes", "bytes of the filter"},
             {"fill", "share of ones"}});
    for (const std::uint64_t characters : {32, 1024}) {
        bloom_filter filter = take(bloom_filter::make(shape(9585, 7, 0)), "papers");
        for (std::uint64_t i = 0; i < n; ++i) {
            std::string key = std::to_string(i);
            key.resize(characters, 'x');
            filter.insert(filter.hash()(std::string_view(key)));
        }
        t.row({characters, n * characters, filter.bits().words().size_bytes(), filter.fill()});
    }
    return t;
}

}  // namespace

section write_hadoop(const laboratory& lab) {
    section s{"Bloom filters for Hadoop (Miner, Shook 2012, appendix A)", {}};
    s.parts.emplace_back(heading{"hadoop/size"});
    s.parts.emplace_back(paragraph{
        "The helper multiplies in float, divides in double and truncates to int. So its array is up to one "
        "bit too small for the rate asked for, off by up to some tens of bits at a hundred million items, "
        "and silently stops at 2^31 − 1 bits."});
    size_sheet().append_to(s);
    s.parts.emplace_back(heading{"hadoop/hashes"});
    s.parts.emplace_back(paragraph{
        "The expected rate is that of an array of this very size and this whole number of hashes, E[(1 "
        "− ρ)^k]. `posy plan --bounds` shows it beside a plan."});
    hashes_sheet(lab.trials() != 0).append_to(s);
    s.parts.emplace_back(heading{"hadoop/examples"});
    s.parts.emplace_back(
        paragraph{"One percent of ten million tests come back positive, about a hundred thousand. And a key "
                  "takes the same room whatever its length."});
    tests_sheet(lab.trials() != 0).append_to(s);
    lengths_sheet().append_to(s);
    return s;
}

}  // namespace posy::tool::papers
