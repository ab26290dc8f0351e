// Compression and its limits (Mitzenmacher 2002, II-B and III): the formulas behind the tables.
#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "chapters.hpp"
#include "posy/theory.hpp"

namespace posy::tool::papers {
namespace {

using std::numbers::ln2;

// dγ/dp = 1/ln(1−p) − 1/ln p + p/((1−p) ln²(1−p)) − (1−p)/(p ln² p)
double slope_of_gamma(double p) {
    const double a = std::log1p(-p), b = std::log(p);
    return 1 / a - 1 / b + p / ((1 - p) * a * a) - (1 - p) / (p * b * b);
}

sheet beta_sheet() {
    sheet t("limits_beta", "Against the share p of zeros",
            {{"zeros", "p"},
             {"entropy", "H(p)"},
             {"gamma", "γ"},
             {"slope", "dγ/dp"},
             {"beta", "β"},
             {"rate", "f = β^(z/n), z/n = 8"},
             {"rate_formula", "(1−p)^(−8 ln p/H(p))"}});
    for (const double p : {0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999}) {
        const double h = theory::binary_entropy(p), slope = slope_of_gamma(p);
        t.row({p,
               h,
               theory::gamma(p),
               {fmt::format("{:.4f}", slope), slope},
               theory::beta(p),
               std::pow(theory::beta(p), 8),
               std::pow(1 - p, -8 * std::log(p) / h)});
    }
    return t;
}

// Messages of z/n = 8 from almost no hash to many: real numbers of hashes, as in the paper's figures.
sheet ends_sheet() {
    constexpr double z = 8;
    sheet t("limits_ends", "Messages of 8 bits per item, with any number of hashes",
            {{"hashes", "k"},
             {"bits_per_item", "m/n"},
             {"zeros", "p"},
             {"rate", "f"},
             {"over_limit", "f / 0.5^8"},
             {"under_plain", "f / 0.6185^8"}});
    for (const double k : {0.05, 0.1, 0.5, 1.0, 2.0, 4.0, z * ln2, 8.0, 12.0, 20.0, 40.0, 80.0}) {
        const double m = theory::compressed_array_for(z, k);
        const double f = theory::false_positive_rate_asymptotic(1, m, k);
        t.row({k, m, theory::zero_probability_asymptotic(1, m, k), f, f / theory::compressed_limit(z),
               f / theory::optimal_rate(z)});
    }
    return t;
}

sheet savings_sheet() {
    sheet t("limits_savings", "Messages at the rate of the best plain filter with m/n = 8, 0.6185^8",
            {{"hashes", "k"}, {"bits_per_item", "m/n"}, {"message", "z/n"}, {"saved", "saved, %"}});
    const double rate = theory::optimal_rate(8);
    for (const double k : {8 * ln2, 4.0, 2.0, 1.0, 0.5, 0.1, 0.05}) {
        // (1 − e^(−k/m))^k = rate
        const double m = -k / std::log1p(-std::pow(rate, 1 / k));
        const double z = theory::compressed_bits(1, m, k);
        t.row({k, m, z, 100 * (1 - z / 8)});
    }
    t.row({"the limit, m ln 2", sheet::none(), 8 * ln2, 100 * (1 - ln2)});
    return t;
}

sheet one_hash_sheet() {
    sheet t("limits_one_hash", "One hash",
            {{"rate", "ε"},
             {"about", "n/ε"},
             {"exact", "m/n, exactly −1/ln(1−ε)"},
             {"message", "z/n"},
             {"limit", "log2(1/ε)"}});
    for (const double rate : {0.0215, 0.0108, 0.001, 1e-4}) {
        const double m = -1 / std::log1p(-rate);
        t.row({rate, 1 / rate, m, theory::compressed_bits(1, m, 1), std::log2(1 / rate)});
    }
    return t;
}

sheet sorted_sheet() {
    sheet t("limits_sorted", "Table I's filter with one hash, 92 bits per item: array against sorted list",
            {{"items", "n"},
             {"array", "array, bits per item"},
             {"list", "log2(92n), printed"},
             {"ones", "as many as there are ones"},
             {"coded", "entropy, z/n"}});
    for (const double n : {1e3, 1e4, 1e6, 1e9}) {
        const double ones = 92 * (1 - theory::zero_probability(n, 92 * n, 1));
        t.row({n, 92, std::log2(92 * n), ones * std::log2(92 * n), theory::compressed_bits(1, 92, 1)});
    }
    return t;
}

// How far below a budget a design must stay: the size follows the number of ones, dL/dx = log2((m−x)/x).
sheet budget_sheet(const laboratory& lab) {
    sheet t("limits_budget", "Budgets in bytes, n = 10,000",
            {{"case", "(m/n, k)"},
             {"budget", "budget z"},
             {"target", "0.99 z"},
             {"expected", "m H(p)/8"},
             {"deviation", "deviation, by formula"},
             {"printed", "printed"},
             {"measured", "measured"},
             {"room", "room, in deviations"}});
    constexpr double n = items;
    for (const auto& p : simulations()) {
        if (p.change > 0 || p.m == 12.6) continue;
        const double budget = p.m == 14 ? 10'000 : p.m == 48 ? 20'000 : 5'000, m = p.m * n;
        const double ones = m * (1 - theory::zero_probability(n, m, p.k));
        const double deviation =
            std::log2((m - ones) / ones) * std::sqrt(theory::zero_count_variance(n, m, p.k)) / 8;
        const double expected = theory::compressed_bits(n, m, p.k) / 8;
        const tally* const seen = lab.find(purpose::simulation, p.m, p.k);
        const auto bytes = [](double x) { return sheet::value(fmt::format("{:.2f}", x), x); };
        t.row({p.name, budget, 0.99 * budget, bytes(expected), bytes(deviation),
               p.deviation ? sheet::value(fmt::format("{}", *p.deviation), *p.deviation) : sheet::none(),
               seen ? bytes(seen->payload.deviation()) : sheet::none(), (budget - expected) / deviation});
    }
    return t;
}

}  // namespace

void ask_limits(laboratory& lab) { ask_deltas(lab); }

section write_limits(const laboratory& lab) {
    section s{"Compression, its limits, and deltas (Compressed Bloom Filters, II-B to V, appendix)", {}};
    s.parts.emplace_back(heading{"limits/beta"});
    s.parts.emplace_back(paragraph{
        "A message of m H(p) bits has the rate β^(z/n) with β = e^(−ln p ln(1−p)/H(p)) = 2^(1/γ). γ "
        "is least at p = 1/2, where its slope changes sign, so β is greatest there: the best plain "
        "filter is the worst compressed one."});
    beta_sheet().append_to(s);

    s.parts.emplace_back(heading{"limits/ends"});
    s.parts.emplace_back(
        paragraph{"Towards either end, k to 0 or to infinity, γ goes to −1, β to 1/2 and f to 0.5^(z/n); "
                  "slowly, as one over the logarithm of the rarer bit's share. The worst, at k = 8 ln 2, is "
                  "0.6185^(z/n). At equal rates z falls from m to m ln 2 in the limit: 31 %, printed as "
                  "roughly 30."});
    ends_sheet().append_to(s);
    savings_sheet().append_to(s);

    s.parts.emplace_back(heading{"limits/practice"});
    s.parts.emplace_back(
        paragraph{"What one hash costs in memory; what a sorted list of the ones would take instead; and "
                  "whether one percent of room is enough for the size to vary in."});
    one_hash_sheet().append_to(s);
    sorted_sheet().append_to(s);
    budget_sheet(lab).append_to(s);
    add_coder(lab, s);
    add_deltas(lab, s);
    add_counting_message(lab, s);
    return s;
}

}  // namespace posy::tool::papers
