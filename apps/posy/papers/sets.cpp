// Filters and sets (the survey, Figure 1, 2.4 and the applications): an example step by step, union, halving,
// intersection, and what the applications count on. All on real filters.
#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <string_view>

#include "chapters.hpp"
#include "posy/algebra.hpp"
#include "posy/estimate.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

// ---- The example ------------------------------------------------------------------------------------------

constexpr std::uint64_t example_bits = 32;

std::string picture_of(const bloom_filter& filter) {
    std::string text;
    for (std::uint64_t i = 0; i < filter.bits().size(); ++i) text += filter.bits().test(i) ? '1' : '0';
    return text;
}

std::string list_of(const std::vector<std::uint64_t>& positions) {
    std::string text;
    for (const std::uint64_t at : positions) text += (text.empty() ? "" : ", ") + std::to_string(at);
    return text;
}

// x1 and x2 go in; y1 is the first of a1, a2, … that meets a 0, y2 the first that meets none.
sheet example_sheet(unsigned hashes) {
    sheet t(fmt::format("sets_example{}", hashes), fmt::format("{} bits, {} hashes", example_bits, hashes),
            {{"step", "step"}, {"positions", "positions"}, {"array", "array"}, {"answer", "answer"}});
    bloom_filter filter = take(bloom_filter::make(shape(example_bits, hashes, 0)), "papers");
    t.row({"empty", "", picture_of(filter), ""});
    const auto at = [&](const std::string& key) {
        return list_of(positions_of(filter.geometry(), filter.hash()(std::string_view(key))));
    };
    for (const std::string key : {"x1", "x2"}) {
        filter.insert(filter.hash()(std::string_view(key)));
        t.row({"insert " + key, at(key), picture_of(filter), ""});
    }
    const auto first = [&](bool yes) {
        for (unsigned i = 1;; ++i) {
            std::string key = "a" + std::to_string(i);
            if (filter.may_contain(filter.hash()(std::string_view(key))) == yes) return key;
        }
    };
    t.row({"ask y1 = " + first(false), at(first(false)), picture_of(filter), "no: a 0 is found"});
    t.row({"ask y2 = " + first(true), at(first(true)), picture_of(filter), "yes: a false positive"});
    return t;
}

// ---- Tricks -----------------------------------------------------------------------------------------------

std::uint64_t differing_bits(const bloom_filter& a, const bloom_filter& b) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < a.bits().words().size(); ++i) {
        bits += static_cast<std::uint64_t>(std::popcount(a.bits().words()[i] ^ b.bits().words()[i]));
    }
    return bits;
}

sheet tricks_sheet() {
    constexpr std::uint64_t bits = 1 << 17, absent = 1'000'000;
    constexpr unsigned k = 5;
    sheet t("sets_tricks", fmt::format("{} bits, {} hashes", bits, k),
            {{"filter", "filter"},
             {"bits", "m"},
             {"items", "|S|"},
             {"differing", "bits unlike those of the filter built so"},
             {"zeros", "zeros"},
             {"expected_zeros", "m(1 − 1/m)^(k|S|)"},
             {"estimate", "|S| from the zeros"},
             {"rate", "rate, expected"},
             {"measured", "measured"},
             {"queries", ""}});
    const auto row = [&](const std::string& name, const bloom_filter& made, key_range set) {
        const geometry& g = made.geometry();
        const auto n = static_cast<double>(set.last - set.first), m = static_cast<double>(g.bits);
        t.row({name,
               g.bits,
               set.last - set.first,
               differing_bits(made, filter_of(g, set)),
               g.bits - made.ones(),
               {fmt::format("{:.1f}", m * theory::zero_probability(n, m, k)),
                m * theory::zero_probability(n, m, k)},
               {fmt::format("{:.1f}", estimate_items(made).value), estimate_items(made).value},
               theory::spread_rate(n, m, k),
               static_cast<double>(found(made, {set.last, set.last + absent})) / absent,
               absent});
    };
    const geometry g = shape(bits, k, 7);
    const bloom_filter a = filter_of(g, {0, 10'000}), b = filter_of(g, {6'000, 16'000});
    bloom_filter both = take(a.clone(), "papers");
    take(unite(both, b), "papers");
    row("S1", a, {0, 10'000});
    row("S2", b, {6'000, 16'000});
    row("S1 ∪ S2, by OR", both, {0, 16'000});
    row("S1, halved", take(fold(a, 2), "papers"), {0, 10'000});
    row("S1, halved twice", take(fold(a, 4), "papers"), {0, 10'000});
    return t;
}

// ---- Intersection -----------------------------------------------------------------------------------------

sheet intersection_sheet(std::uint64_t trials) {
    constexpr std::uint64_t bits = 100'000, first = 10'000, second = 5'000;
    constexpr unsigned k = 5;
    sheet t("sets_intersection", fmt::format("|S1| = {}, |S2| = {}, m = {}, k = {}", first, second, bits, k),
            {{"intersection", "|S1 ∩ S2|"},
             {"both", "a bit is set in both"},
             {"inner", "expected inner product"},
             {"inner_measured", "measured"},
             {"inner_error", ""},
             {"by_inner", "from the inner product"},
             {"by_inner_error", ""},
             {"by_zeros", "from the zeros"},
             {"by_zeros_error", ""}});
    for (const std::uint64_t common : {0, 50, 500, 2500, 5000}) {
        average inner, by_inner, by_zeros;
        for (std::uint64_t trial = 0; trial < trials; ++trial) {
            const geometry g = shape(bits, k, trial);
            const bloom_filter a = filter_of(g, {0, first});
            const bloom_filter b = filter_of(g, {first - common, first - common + second});
            std::uint64_t product = 0;
            for (std::size_t i = 0; i < a.bits().words().size(); ++i) {
                product +=
                    static_cast<std::uint64_t>(std::popcount(a.bits().words()[i] & b.bits().words()[i]));
            }
            const auto zeros = [](std::uint64_t ones) { return static_cast<double>(bits - ones); };
            inner.add(static_cast<double>(product));
            by_inner.add(
                intersection_from_inner_product(static_cast<double>(product), first, second, bits, k));
            by_zeros.add(intersection_from_zeros(zeros(a.ones()), zeros(b.ones()), zeros(product), bits, k));
        }
        const auto missed = [](std::uint64_t keys) {
            return theory::zero_probability(static_cast<double>(keys), bits, k);
        };
        const double both = 1 - missed(common) +
                            missed(common) * (1 - missed(first - common)) * (1 - missed(second - common));
        const double expected = bits * (1 - missed(first) - missed(second) + missed(first + second - common));
        const auto seen = [&](const average& a) {
            return trials == 0 ? sheet::none()
                               : sheet::value(fmt::format("{:.1f} ± {:.2g}", a.mean(), a.error()), a.mean());
        };
        t.row({common,
               {fmt::format("{:.6f}", both), both},
               {fmt::format("{:.1f}", expected), expected},
               seen(inner),
               inner.error(),
               seen(by_inner),
               by_inner.error(),
               seen(by_zeros),
               by_zeros.error()});
    }
    return t;
}

}  // namespace

section write_sets(const laboratory& lab) {
    section s{"Filters at work (the survey, 2.4 and 5 to 8; the slides; Figure 3 of Summary Cache)", {}};
    s.parts.emplace_back(heading{"sets/example"});
    s.parts.emplace_back(paragraph{
        "The survey's Figure 1 and the slides' example (three hashes) and Summary Cache's Figure 3 "
        "(four) show how a filter works. Here are the steps in a real one, XXH3 under seed 0; y2 is "
        "looked for until a false positive is found."});
    for (const unsigned k : {3U, 4U}) example_sheet(k).append_to(s);

    s.parts.emplace_back(heading{"sets/tricks"});
    s.parts.emplace_back(
        paragraph{"The OR of two filters is bit for bit the filter of the union. A filter halves by OR-ing: "
                  "the survey takes the two halves and masks the highest bit of the hash, ours takes "
                  "neighbours, and works for sizes that are no power of two. The zeros tell |S|."});
    tricks_sheet().append_to(s);

    s.parts.emplace_back(heading{"sets/intersection"});
    s.parts.emplace_back(paragraph{fmt::format(
        "The probability that a bit is set in both filters, m times it as the expected inner product, and "
        "the two estimates of |S1 ∩ S2|: from the inner product with |S1| and |S2| known, and from the zeros "
        "alone. Measured: {} pairs of filters.",
        small_trials(lab))});
    intersection_sheet(small_trials(lab)).append_to(s);
    add_flows(lab, s);
    return s;
}

}  // namespace posy::tool::papers
