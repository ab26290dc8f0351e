// What four of the five documents begin with: the share of zeros, the rate, and the best number of hashes.
// The same formulas in each, so they stand once, before the chapters, with small filters beside them: in
// large ones f and f' do not differ visibly.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "chapters.hpp"
#include "posy/theory.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

using std::numbers::ln2;

constexpr double sample_bits_per_item = 10;
constexpr unsigned sample_hashes = 5;
constexpr std::uint64_t sample_absent = 10'000;

struct small_filters {
    std::uint64_t n = 0, m = 0, trials = 0;
    average zeros{}, rate{}, sliced_zeros{}, sliced_rate{};
};

// The smaller the more of them: they cost less, stray more, and show more.
small_filters measure(std::uint64_t n, std::uint64_t trials) {
    small_filters s{.n = n,
                    .m = static_cast<std::uint64_t>(sample_bits_per_item) * n,
                    .trials = trials * std::max<std::uint64_t>(1, 1000 / n)};
    for (std::uint64_t trial = 0; trial < s.trials; ++trial) {
        const auto look = [&](layout_id layout, average& zeros, average& rate) {
            const bloom_filter filter = filter_of(shape(s.m, sample_hashes, trial, layout), {0, n});
            zeros.add(1 - filter.fill());
            rate.add(static_cast<double>(found(filter, {n, n + sample_absent})) / sample_absent);
        };
        look(layout_id::spread, s.zeros, s.rate);
        look(layout_id::sliced, s.sliced_zeros, s.sliced_rate);
    }
    return s;
}

// The mean and its standard error, by theory or, where that is not at hand, as seen; nothing without trials.
sheet::value seen(const average& a, double error) {
    if (error <= 0) return sheet::none();
    return {fmt::format("{:.4g} ± {:.1g}", a.mean(), error), a.mean()};
}

sheet fill_sheet(const std::vector<small_filters>& sizes) {
    sheet t("formulas_fill", fmt::format("Zeros at m/n = {}, k = {}", sample_bits_per_item, sample_hashes),
            {{"items", "n"},
             {"bits", "m"},
             {"hashes", ""},
             {"exact", "p' = (1 − 1/m)^(kn)"},
             {"asymptotic", "p = e^(−kn/m)"},
             {"scaled_difference", "m (p − p')"},
             {"measured", "mean ρ, measured"},
             {"standard_error", ""},
             {"sliced", "sliced: (1 − k/m)^n"},
             {"sliced_measured", "measured"}});
    for (const small_filters& s : sizes) {
        const auto n = static_cast<double>(s.n), m = static_cast<double>(s.m),
                   trials = static_cast<double>(s.trials);
        const double exact = theory::zero_probability(n, m, sample_hashes);
        const double p = theory::zero_probability_asymptotic(n, m, sample_hashes);
        const double error =
            trials > 0 ? std::sqrt(theory::zero_count_variance(n, m, sample_hashes) / trials) / m : 0;
        t.row({s.n,
               s.m,
               sample_hashes,
               {fmt::format("{:.6f}", exact), exact},
               {fmt::format("{:.6f}", p), p},
               m * (p - exact),
               seen(s.zeros, error),
               error,
               std::exp(n * std::log1p(-1.0 * sample_hashes / m)),
               seen(s.sliced_zeros, error)});
    }
    return t;
}

sheet rate_sheet(const std::vector<small_filters>& sizes) {
    sheet t("formulas_rate", fmt::format("Rates at m/n = {}, k = {}", sample_bits_per_item, sample_hashes),
            {{"items", "n"},
             {"bits", "m"},
             {"hashes", ""},
             {"asymptotic", "f = (1 − p)^k"},
             {"mean_fill", "f' = (1 − p')^k"},
             {"expected", "E[(1 − ρ)^k]"},
             {"measured", "measured"},
             {"standard_error", ""},
             {"sliced", "sliced"},
             {"sliced_measured", "measured"}});
    for (const small_filters& s : sizes) {
        const auto n = static_cast<double>(s.n), m = static_cast<double>(s.m),
                   trials = static_cast<double>(s.trials);
        const double expected = theory::spread_rate(n, m, sample_hashes);
        // Of the questions, and of the fill from filter to filter; twice that for the convexity of small
        // ones.
        const double fill = 1 - theory::zero_probability(n, m, sample_hashes);
        const double slope = sample_hashes * std::pow(fill, sample_hashes - 1) / m;
        const double one =
            expected / sample_absent + 2 * slope * slope * theory::zero_count_variance(n, m, sample_hashes);
        const double error = trials > 0 ? std::sqrt(one / trials) : 0;
        t.row({s.n, s.m, sample_hashes, theory::false_positive_rate_asymptotic(n, m, sample_hashes),
               theory::false_positive_rate_mean_fill(n, m, sample_hashes), expected, seen(s.rate, error),
               error, theory::sliced_rate(n, m, sample_hashes), seen(s.sliced_rate, error)});
    }
    return t;
}

// dg/dk = ln(1 − e^(−kn/m)) + (kn/m) e^(−kn/m)/(1 − e^(−kn/m))
double slope_of_log_rate(double bits, double k) {
    const double s = k / bits;
    return std::log(-std::expm1(-s)) + s / std::expm1(s);
}

sheet optimum_sheet() {
    sheet t("formulas_optimum", "The best number of hashes",
            {{"bits_per_item", "m/n"},
             {"best", "k = ln 2 · m/n"},
             {"slope", "dg/dk there"},
             {"slope_below", "at 0.9 k"},
             {"slope_above", "at 1.1 k"},
             {"log_rate", "g = −(m/n)(ln 2)²"},
             {"rate", "(1/2)^k = 0.6185^(m/n)"},
             {"whole", "best whole k"},
             {"whole_rate", "f there"}});
    for (const double bits : {2.0, 4.0, 8.0, 10.0, 16.0, 32.0}) {
        const double k = theory::optimal_hashes(1, bits);
        const double slope = slope_of_log_rate(bits, k);
        const unsigned whole = theory::optimal_hashes_integral(1, bits);
        t.row({bits,
               k,
               {fmt::format("{:.0e}", slope), slope},
               slope_of_log_rate(bits, 0.9 * k),
               slope_of_log_rate(bits, 1.1 * k),
               -bits * ln2 * ln2,
               theory::optimal_rate(bits),
               whole,
               theory::false_positive_rate_asymptotic(1, bits, whole)});
    }
    return t;
}

sheet symmetry_sheet() {
    sheet t("formulas_symmetry", "The base of the rate, f = base^(m/n), against the share p of zeros",
            {{"zeros", "p"},
             {"base", "e^(−ln p ln(1−p))"},
             {"mirrored", "at 1 − p"},
             {"hashes", "k n/m = −ln p"}});
    for (const double p : {0.01, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5}) {
        const auto base = [](double zeros) { return std::exp(-std::log(zeros) * std::log1p(-zeros)); };
        t.row({p, base(p), base(1 - p), -std::log(p)});
    }
    return t;
}

sheet precise_sheet() {
    sheet t("formulas_precise", "At 10 bits per item",
            {{"bits", "m"},
             {"asymptotic_best", "ln 2 · m/n"},
             {"best", "k' = ln(1/2)/(n ln(1−1/m))"},
             {"zeros", "p' at k'"},
             {"log_rate", "g'(k')"},
             {"log_rate_formula", "ln p' ln(1−p')/(n ln(1−1/m))"},
             {"log_rate_below", "g'(0.99 k')"},
             {"log_rate_above", "g'(1.01 k')"}});
    for (const double m : {20.0, 100.0, 1000.0, 1e6}) {
        const double n = m / 10, k = theory::optimal_hashes_exact(n, m);
        const auto g = [&](double hashes_) {
            return std::log(theory::false_positive_rate_mean_fill(n, m, hashes_));
        };
        const auto six = [](double x) { return sheet::value(fmt::format("{:.7g}", x), x); };
        t.row({m,
               theory::optimal_hashes(n, m),
               {fmt::format("{:.6g}", k), k},
               theory::zero_probability(n, m, k),
               six(g(k)),
               six(ln2 * ln2 / (n * std::log1p(-1 / m))),
               six(g(0.99 * k)),
               six(g(1.01 * k))});
    }
    return t;
}

}  // namespace

section write_formulas(const laboratory& lab) {
    section s{"The formulas that the documents share", {}};
    const std::uint64_t trials = small_trials(lab);
    std::vector<small_filters> sizes;
    for (const std::uint64_t n : {10, 100, 1000, 10'000}) sizes.push_back(measure(n, trials));

    s.parts.emplace_back(heading{"formulas/fill"});
    s.parts.emplace_back(paragraph{fmt::format(
        "p' is exact, and the mean of the share ρ of zeros; p differs from it by a constant over m. A filter "
        "in slices has no more zeros: (1 − k/m)^n ≤ (1 − 1/m)^(kn). Measured: {} filters of the largest "
        "size, up to a hundred times as many of the smaller.",
        trials)});
    fill_sheet(sizes).append_to(s);

    s.parts.emplace_back(heading{"formulas/rate"});
    s.parts.emplace_back(paragraph{
        "Given ρ, an absent key is taken for a member with probability (1 − ρ)^k. Its mean lies above "
        "f', the power at the mean, and f' above f; small filters show it. That column is what the "
        "planner uses, and what filters are measured to have."});
    rate_sheet(sizes).append_to(s);

    s.parts.emplace_back(heading{"formulas/optimum"});
    s.parts.emplace_back(
        paragraph{"With g = ln f, dg/dk = ln(1 − e^(−kn/m)) + (kn/m) e^(−kn/m)/(1 − e^(−kn/m)) is 0 at k = "
                  "ln 2 · m/n, negative before and positive after it. Written in p, f is the same at p and "
                  "1 − p, and least in the middle: 0.6185^(m/n)."});
    optimum_sheet().append_to(s);
    symmetry_sheet().append_to(s);

    s.parts.emplace_back(heading{"formulas/precise"});
    s.parts.emplace_back(
        paragraph{"The same for f' = e^g': by symmetry p' = 1/2, without approximation, at a k' a little "
                  "below ln 2 · m/n."});
    precise_sheet().append_to(s);
    return s;
}

}  // namespace posy::tool::papers
