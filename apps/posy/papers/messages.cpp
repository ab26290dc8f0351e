// Messages by formula and by our coders (Mitzenmacher 2002, IV, V and the appendix): an array, the difference
// of two, a counting filter.
#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "chapters.hpp"
#include "posy/message.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

// ---- The adaptive coder -----------------------------------------------------------------------------------

// ⌈log2 (m+1)!/(x!(m−x)!)⌉ + 1, where (m+1)!/(x!(m−x)!) = (m+1) C(m, x).
double adaptive_length(double m, double x) {
    return std::ceil(std::log2(m + 1) + theory::log2_binomial(m, x)) + 1;
}

sheet coder_sheet() {
    sheet t("limits_coder", "Arrays of m/n = 14, k = 2, in bits",
            {{"bits", "m"},
             {"zeros", "x, zeros"},
             {"length", "L = ⌈log2 (m+1)!/(x!(m−x)!)⌉ + 1"},
             {"ours", "our adaptive coder"},
             {"entropy", "m H(ρ)"},
             {"binomial", "log2 C(m, ρm)"},
             {"per_log", "(m H(ρ) − log2 C)/log2 m"},
             {"length_per_log", "(L − m H(ρ))/log2 m"}});
    for (const std::uint64_t n : {100, 1000, 10'000, 100'000}) {
        const bloom_filter filter = filter_of(shape(14 * n, 2, n), {0, n});
        const auto m = static_cast<double>(14 * n), x = m - static_cast<double>(filter.ones());
        const double entropy = m * theory::binary_entropy(x / m), least = theory::log2_binomial(m, x);
        const std::uint64_t ours = 8 * payload_size(to_bytes(filter, {.codec = codec_id::adaptive}));
        const auto bits = [](double value) { return sheet::value(fmt::format("{:.1f}", value), value); };
        t.row({14 * n, static_cast<std::uint64_t>(x), bits(adaptive_length(m, x)), ours, bits(entropy),
               bits(least), (entropy - least) / std::log2(m),
               (adaptive_length(m, x) - entropy) / std::log2(m)});
    }
    return t;
}

// ---- Deltas -----------------------------------------------------------------------------------------------

struct delta_case {
    double bits_per_item, change;
    unsigned hashes;
};
constexpr delta_case delta_cases[] = {{8, 0.05, 5}, {32, 0.05, 2}, {13, 0.01, 2}, {48, 0.01, 2}};

// Bits that went from 0 to 1 and from 1 to 0 when a share of the keys was replaced.
struct changed_bits {
    average came, went;
};
changed_bits change(const delta_case& c, std::uint64_t trials) {
    changed_bits both;
    const auto bits = static_cast<std::uint64_t>(std::llround(c.bits_per_item * items));
    const auto replaced = static_cast<std::uint64_t>(std::llround(c.change * items));
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
        const geometry g = shape(bits, c.hashes, trial);
        const bloom_filter before = filter_of(g, {0, items});
        const bloom_filter after = filter_of(g, {replaced, items + replaced});
        std::uint64_t came = 0, went = 0;
        for (std::size_t i = 0; i < before.bits().words().size(); ++i) {
            const std::uint64_t a = before.bits().words()[i], b = after.bits().words()[i];
            came += static_cast<std::uint64_t>(std::popcount(b & ~a));
            went += static_cast<std::uint64_t>(std::popcount(a & ~b));
        }
        both.came.add(static_cast<double>(came) / static_cast<double>(bits));
        both.went.add(static_cast<double>(went) / static_cast<double>(bits));
    }
    return both;
}

sheet density_sheet(const laboratory& lab) {
    sheet t("limits_delta", "The share q of ones in a delta",
            {{"bits_per_item", "m/n"},
             {"hashes", "k"},
             {"change", "c"},
             {"one_case", "p(1 − p^c), either case"},
             {"came", "0 to 1, measured"},
             {"went", "1 to 0, measured"},
             {"standard_error", ""},
             {"density", "q = 2p(1 − p^c)"},
             {"message", "z/n = (m/n) H(q)"},
             {"message_measured", "measured"},
             {"limit", "limit at this rate, 2c log2(1/f)"},
             {"rate", "f"},
             {"rate_formula", "(1−p)^(−z ln p/(nH(q)))"},
             {"limit_rate", "limit, 0.5^(z/2cn)"}});
    const std::uint64_t trials = lab.trials(purpose::rate);
    for (const delta_case& c : delta_cases) {
        const double m = c.bits_per_item, p = theory::zero_probability_asymptotic(1, m, c.hashes);
        const double f = theory::false_positive_rate_asymptotic(1, m, c.hashes);
        const double z = theory::delta_bits(1, m, c.hashes, c.change), q = theory::delta_density(p, c.change);
        const changed_bits seen = change(c, trials);
        const auto shown = [&](const average& a) {
            return trials == 0 ? sheet::none() : sheet::value(a.mean());
        };
        const tally* const sent = lab.find(purpose::column, m, c.hashes, c.change);
        // Flips are rare and near independent: their number has a deviation of at most its root.
        const double error = trials == 0 ? 0 : std::sqrt(q / 2 / (m * items * static_cast<double>(trials)));
        t.row({m, c.hashes, c.change, q / 2, shown(seen.came), shown(seen.went), error, q, z,
               sent ? sheet::value(sent->payload.mean() * 8 / items) : sheet::none(),
               theory::delta_limit_bits(1, f, c.change), f,
               std::pow(1 - p, -z * std::log(p) / theory::binary_entropy(q)),
               theory::delta_limit(z, c.change)});
    }
    return t;
}

sheet delta_beta_sheet() {
    sheet t("limits_delta_beta", "β = e^(−ln p ln(1−p)/H(2p(1−p^c))) = f^(n/z) of a delta",
            {{"zeros", "p"}, {"beta_001", "c = 0.01"}, {"beta_005", "c = 0.05"}, {"beta_02", "c = 0.2"}});
    for (const double p : {0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-6, 1 - 1e-9, 1.0}) {
        const std::string name = p == 1 ? "limit, (1/2)^(1/2c)" : fmt::format("{:.10g}", p);
        t.row({{name, p},
               theory::delta_beta(p, 0.01),
               theory::delta_beta(p, 0.05),
               theory::delta_beta(p, 0.2)});
    }
    return t;
}

// Updates when a share of the bits has changed, and how many keys have changed then.
sheet flipped_sheet() {
    sheet t("limits_flipped", "An update when 5 % of the bits have changed: m H(0.05)",
            {{"bits_per_item", "m/n"},
             {"hashes", "k"},
             {"message", "z/n"},
             {"change", "keys replaced by then, %"}});
    for (const auto& [m, k] :
         {std::pair{8.0, 5.0}, std::pair{8.0, 6.0}, std::pair{16.0, 3.0}, std::pair{13.0, 2.0}}) {
        // 2p(1 − p^c) = 0.05
        const double p = theory::zero_probability_asymptotic(1, m, k);
        const double c = std::log1p(-0.05 / (2 * p)) / std::log(p);
        t.row({m, k, m * theory::binary_entropy(0.05), 100 * c});
    }
    return t;
}

// ---- Counting filters -------------------------------------------------------------------------------------

// −Σ P(c = j) log2 P(c = j)
double counter_entropy(double n, double m, unsigned k) {
    double bits = 0;
    for (unsigned j = 0; j < 100; ++j) {
        const double p = theory::counter_probability(j, n, m, k);
        if (p > 0) bits -= p * std::log2(p);
    }
    return bits;
}

sheet counting_sheet(bool measured) {
    sheet t("limits_counting", fmt::format("Counters of {} keys, in bits each", items),
            {{"bits_per_item", "m/n"},
             {"hashes", "k"},
             {"width", "held in"},
             {"entropy", "entropy"},
             {"measured", "our message"},
             {"projection", "the 0/1 filter alone, H(p)"}});
    for (const auto& [bits, k] :
         {std::pair{8U, 5U}, std::pair{16U, 11U}, std::pair{14U, 2U}, std::pair{92U, 1U}}) {
        const double n = items, m = n * bits;
        sheet::value ours = sheet::none();
        if (measured) {
            auto filter = take(counting_filter::make(shape(bits * items, k, 1)), "papers");
            filter.insert(digests_of(filter.hash(), {0, items}));
            ours = 8.0 * static_cast<double>(payload_size(to_bytes(filter, {.want = coding::smallest}))) / m;
        }
        t.row({bits, k, 4, counter_entropy(n, m, k), ours,
               theory::binary_entropy(theory::zero_probability(n, m, k))});
    }
    return t;
}

}  // namespace

void add_coder(const laboratory&, section& s) {
    s.parts.emplace_back(heading{"limits/coder"});
    s.parts.emplace_back(paragraph{
        "A coder that learns the density from the bits it has seen, the counts starting at 1, takes "
        "L bits whatever the order of the bits. Our adaptive coder is that coder, written in whole "
        "bytes. L is m H(ρ) and a multiple of log m, and so is log2 C(m, ρm)."});
    coder_sheet().append_to(s);
}

void ask_deltas(laboratory& lab) {
    for (const delta_case& c : delta_cases) lab.want(purpose::column, c.bits_per_item, c.hashes, c.change);
}

void add_deltas(const laboratory& lab, section& s) {
    s.parts.emplace_back(heading{"limits/delta"});
    s.parts.emplace_back(paragraph{
        "A bit of the delta is 1 if a bit came or a bit went, equally likely. As the array grows, β "
        "goes to (1/2)^(1/2c) and f to 0.5^(z/2cn): at a given rate the delta goes to 2cn log2(1/f) "
        "bits, log2(1/f) for each item that left and each that came. `posy plan --bounds "
        "--delta-fraction c` shows it."});
    density_sheet(lab).append_to(s);
    delta_beta_sheet().append_to(s);
    flipped_sheet().append_to(s);
}

void add_counting_message(const laboratory& lab, section& s) {
    s.parts.emplace_back(heading{"limits/counting"});
    s.parts.emplace_back(
        paragraph{"Large counts are rare, so the entropy of a counter is far below the four bits it is held "
                  "in. A counting filter sent as a message takes that entropy."});
    counting_sheet(lab.trials() != 0).append_to(s);
}

}  // namespace posy::tool::papers
