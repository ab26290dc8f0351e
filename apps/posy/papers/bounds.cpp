// How few bits there can be, and what takes how many: the lower bound of the survey, the Bloom filter, the
// table of fingerprints, the list of hash values, the identifiers themselves.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "chapters.hpp"
#include "posy/message.hpp"
#include "posy/plan.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/theory.hpp"
#include "tool.hpp"
#include "trial.hpp"

namespace posy::tool::papers {
namespace {

// ---- The lower bound --------------------------------------------------------------------------------------

sheet universe_sheet() {
    constexpr double n = 1000, rate = 0.01;
    sheet t("bounds_lower", "Bits for 1,000 keys of a universe of u at a rate of 0.01",
            {{"universe", "u"},
             {"bound", "log2 C(u,n)/C(n+ε(u−n),n)"},
             {"approximation", "≈ log2 C(u,n)/C(εu,n)"},
             {"limit", "≥ n log2(1/ε)"},
             {"set", "the set itself, log2 C(u,n)"}});
    for (const double u : {2000.0, 1e4, 1e5, 1e6, 1e9, 0x1p64}) {
        const auto bits = [](double x) { return sheet::value(fmt::format("{:.1f}", x), x); };
        t.row({u, bits(theory::lower_bound_bits(n, rate, u)),
               rate * u >= n ? bits(theory::log2_binomial(u, n) - theory::log2_binomial(rate * u, n))
                             : sheet::none(),
               bits(theory::lower_bound_bits(n, rate)), bits(theory::log2_binomial(u, n))});
    }
    return t;
}

// The fewest strings for all pairs out of u = 6 where each accepts 3 elements, so ε = 1/4: the counting
// argument says C(6,2)/C(3,2) = 5. Tries all ways, fewest first.
unsigned fewest_strings() {
    std::vector<unsigned> strings;  // a bit per element
    for (unsigned s = 0; s < 64; ++s) {
        if (std::popcount(s) == 3) strings.push_back(s);
    }
    std::vector<unsigned> sets;
    for (unsigned s = 0; s < 64; ++s) {
        if (std::popcount(s) == 2) sets.push_back(s);
    }
    for (unsigned count = 1;; ++count) {
        std::vector<bool> taken(strings.size(), false);
        std::fill(taken.begin(), taken.begin() + count, true);
        do {
            const auto stands_for = [&](unsigned set) {
                for (std::size_t i = 0; i < strings.size(); ++i) {
                    if (taken[i] && (strings[i] & set) == set) return true;
                }
                return false;
            };
            if (std::ranges::all_of(sets, stands_for)) return count;
        } while (std::prev_permutation(taken.begin(), taken.end()));
    }
}

// ---- The Bloom filter -------------------------------------------------------------------------------------

sheet overhead_sheet() {
    sheet t("bounds_bloom", "Bits per item for a rate",
            {{"rate", "ε"},
             {"bound", "log2(1/ε)"},
             {"bloom", "log2 e · log2(1/ε)"},
             {"factor", "factor"},
             {"whole", "with a whole k"},
             {"whole_factor", "factor"}});
    for (const double rate : {0.1, 0.02, 0.01, 0.001, 1e-6}) {
        const double bound = theory::lower_bound_bits(1, rate), bloom = theory::bloom_bits(1, rate);
        const auto p =
            take(choose({.items = 1'000'000, .rate = rate, .layout = layout_id::spread}), "papers");
        t.row({rate, bound, bloom, bloom / bound, p.bits_per_item(), p.bits_per_item() / bound});
    }
    return t;
}

sheet space_sheet() {
    sheet t("bounds_space", "Rates of n j bits",
            {{"bits_per_item", "j"},
             {"bloom", "0.6185^j"},
             {"bound", "0.5^j"},
             {"whole", "best whole k: f"},
             {"hashes", "k"}});
    for (const double j : {1.0, 2.0, 4.0, 8.0, 16.0}) {
        const unsigned k = theory::optimal_hashes_integral(1, j);
        t.row({j, theory::optimal_rate(j), theory::compressed_limit(j),
               theory::false_positive_rate_asymptotic(1, j, k), k});
    }
    return t;
}

// ---- Fingerprints -----------------------------------------------------------------------------------------

constexpr std::uint64_t absent_keys = 1'000'000;

sheet perfect_sheet(bool measured) {
    sheet t("bounds_perfect", fmt::format("{} keys, fingerprints of j bits", items),
            {{"fingerprint", "j"},
             {"bits", "n j"},
             {"rate", "1/2^j"},
             {"sealed_bits", "sealed filter: bits"},
             {"over", "over n j"},
             {"hits", ""},
             {"queries", ""},
             {"measured", "measured rate"}});
    for (const unsigned j : {4U, 8U, 12U}) {
        const hasher hash(hash_family::xxh3, {.low = j});
        const auto set = take(
            sealed_filter::make(hash, digests_of(hash, {0, items}), {.rate = std::exp2(-1.0 * j)}), "papers");
        std::uint64_t hits = 0;
        if (measured) {
            for (const digest d : digests_of(hash, {items, items + absent_keys})) hits += set.may_contain(d);
        }
        const double bits = 8.0 * static_cast<double>(set.bytes().size()), least = 1.0 * items * j;
        const double rate = static_cast<double>(hits) / absent_keys;
        t.row({j,
               least,
               std::exp2(-1.0 * j),
               bits,
               {fmt::format("{:+.2f} %", 100 * (bits / least - 1)), bits / least},
               hits,
               measured ? absent_keys : 0,
               measured ? sheet::value(rate) : sheet::none()});
    }
    return t;
}

// ---- The list of hash values ------------------------------------------------------------------------------

// The values of the keys in 0 … range − 1, sorted, each once: the positions of a filter with one hash.
std::vector<std::uint64_t> hash_list(const bloom_filter& like, std::uint64_t n) {
    std::vector<std::uint64_t> values;
    for (const digest d : digests_of(like.hash(), {0, n})) {
        values.push_back(positions_of(like.geometry(), d).front());
    }
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

sheet list_sheet(bool measured) {
    sheet t("bounds_list", "n hash values of 2 log2 n bits, so n² of them",
            {{"items", "n"},
             {"value_bits", "2 log2 n"},
             {"pair", "a pair: 1/n²"},
             {"rate", "rate, 1 − (1 − 1/n²)^n"},
             {"bound", "at most 1/n"},
             {"hits", ""},
             {"queries", ""},
             {"measured", "measured"},
             {"differences", "answers unlike those of one hash in n² bits"},
             {"list_bits", "bits of the list"},
             {"values", "different values"},
             {"coded_bits", "log2 C(n², values)"},
             {"message_bits", "the filter as a message, bits"}});
    for (const std::uint64_t n : {100, 1000, 10'000}) {
        const auto size = static_cast<double>(n);
        const double b = 2 * std::log2(size);
        const bloom_filter one = filter_of(shape(n * n, 1, n), {0, n});
        const auto list = hash_list(one, n);
        std::uint64_t hits = 0, differences = 0;
        if (measured) {
            for (const digest d : digests_of(one.hash(), {n, n + absent_keys})) {
                const bool in_list =
                    std::ranges::binary_search(list, positions_of(one.geometry(), d).front());
                hits += in_list;
                differences += in_list != one.may_contain(d);
            }
        }
        const auto bits = [](double x) { return sheet::value(fmt::format("{:.0f}", x), x); };
        const double rate = static_cast<double>(hits) / absent_keys;
        const auto message = to_bytes(one, {.want = coding::smallest});
        t.row({n,
               {fmt::format("{:.2f}", b), b},
               1 / (size * size),
               theory::hash_list_rate(size, b),
               1 / size,
               hits,
               measured ? absent_keys : 0,
               measured ? sheet::value(rate) : sheet::none(),
               differences,
               bits(size * b),
               std::uint64_t{list.size()},
               bits(theory::log2_binomial(size * size, static_cast<double>(list.size()))),
               bits(8.0 * static_cast<double>(payload_size(message)))});
    }
    return t;
}

sheet identifier_sheet() {
    sheet t("bounds_identifiers", "Bits per item",
            {{"representation", "representation"}, {"bits_per_item", "bits"}, {"rate", "rate"}});
    t.row({"identifiers of a universe of 2^32 keys, ⌈log2 |U|⌉", 32, 0});
    t.row({"identifiers of 64 bits", 64, 0});
    for (const double bits : {8.0, 16.0}) {
        const unsigned k = theory::optimal_hashes_integral(1, bits);
        t.row({fmt::format("Bloom filter, {} bits and {} hashes", bits, k), bits,
               theory::false_positive_rate_asymptotic(1, bits, k)});
    }
    return t;
}

}  // namespace

section write_bounds(const laboratory& lab) {
    section s{"How few bits there can be (the survey, 2.2 and 2.3)", {}};
    const bool measured = lab.trials() != 0;
    s.parts.emplace_back(heading{"bounds/lower"});
    s.parts.emplace_back(paragraph{fmt::format(
        "A string that accepts n + ε(u − n) of u elements stands for at most C(n + ε(u−n), n) of the C(u, n) "
        "sets, and 2^m strings must stand for all. With u = 6, n = 2 and ε = 1/4 each of them accepts 3 "
        "elements and stands for 3 of 15 sets, so that there are 5 or more; trying all ways, the fewest are "
        "{}.",
        fewest_strings())});
    universe_sheet().append_to(s);
    s.parts.emplace_back(
        paragraph{"The first column is what `posy plan --bounds --universe U` shows. The "
                  "approximation holds where n is small against εu."});

    s.parts.emplace_back(heading{"bounds/bloom"});
    s.parts.emplace_back(paragraph{fmt::format(
        "The Bloom filter takes log2 e = {:.4f} times the bound: printed is 1.44. Whole hashes cost a little "
        "more; those are plans for a million items. Turned around, n j bits give 0.6185^j where 0.5^j is the "
        "limit; m = 8n is just over 0.02.",
        theory::bloom_overhead)});
    overhead_sheet().append_to(s);
    space_sheet().append_to(s);

    s.parts.emplace_back(heading{"bounds/perfect"});
    s.parts.emplace_back(
        paragraph{"A perfect hash function gives every key of a fixed set its own place in a table of n "
                  "fingerprints of j bits: n j bits, the bound, and a rate of exactly 1/2^j; the function "
                  "itself comes on top. Our sealed filter has no such function, solves a system of equations "
                  "instead, and is measured whole."});
    perfect_sheet(measured).append_to(s);

    s.parts.emplace_back(heading{"bounds/list"});
    s.parts.emplace_back(
        paragraph{"A sorted list of hash values is the Bloom filter with one hash, sent as the positions of "
                  "its ones: on the same digests the two give the same answers. `posy plan --bounds` has the "
                  "list for any rate."});
    list_sheet(measured).append_to(s);

    s.parts.emplace_back(heading{"bounds/identifiers"});
    identifier_sheet().append_to(s);
    return s;
}

}  // namespace posy::tool::papers
