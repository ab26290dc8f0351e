#include "posy/reconcile/plan.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "posy/theory.hpp"
#include "reconcile/theory.hpp"
#include "reconcile/tree.hpp"
#include "rehearsal.hpp"
#include "strategy.hpp"
#include "summary.hpp"
#include "wire.hpp"

namespace posy::reconcile {
namespace {

// Up to this many elements in both sets, real sessions are run.
constexpr std::uint64_t small = 256;

// The sketch, all symbols that the strategy allows in as many answers as there can be, and the list.
double most_of_exact(const set_sizes& sizes, const wire& bytes, digest_width width) {
    const auto n = static_cast<double>(sizes.there());
    const double list = n * bytes.element(), symbols = strategy::longest * list;
    const double header = bytes.symbols(n, n, n) - n * static_cast<double>(symbol_bytes(width));
    double turns = 3;
    for (double have = 1; have * static_cast<double>(symbol_bytes(width)) < symbols; ++turns)
        have += std::ldexp(std::max(have / 32, 4.0), std::min(static_cast<int>(turns) - 3, 6));
    return bytes.longest_sketch(static_cast<double>(sizes.here())) + symbols + list +
           turns * (header + bytes.more(2 * n));
}

// What one side sends of its set as a filter or tree.
struct summary {
    double bytes = 0, variance = 0, most = 0;  // with the frame
    double found = 1, found_deviation = 0;     // the share of what only the other side has that it uncovers
};

digest_set random_set(std::uint64_t items, digest_width width, const hasher& hash, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<digest> elements(items);
    for (digest& d : elements) d = {random(), random()};
    return {hash, width, std::move(elements)};
}

// Summaries of random sets, made and measured. Bits per item are the same at any size, so the summary of a
// large set is a multiple of that of a part. The set is halved repeatedly, because the trie of a random set
// is self-similar under halving.
template <class Payload>
summary measured(std::uint64_t items, digest_width width, const hasher& hash, Payload payload_of) {
    constexpr std::uint64_t enough = 1 << 17;
    double times = 1;
    for (; items > enough; items /= 2) times *= 2;
    const std::uint64_t sets = 1 + 8'000 / (items + 20);
    tally all;
    for (std::uint64_t set = 0; set < sets; ++set)
        all.add(static_cast<double>(payload_of(items, random_set(items, width, hash, set))), 1, false);
    const forecast f = all.means();
    return {.bytes = wire(width, hash).message(times * f.bytes),
            .variance = times * f.deviation * f.deviation};
}

double rate(double keys, std::uint64_t bits, unsigned hashes) {
    return keys > 0 ? theory::spread_rate(keys, static_cast<double>(bits), hashes) : 0;
}
// A filter as a message, not coded: a header of 64 bytes, whole words, a checksum.
double longest(std::uint64_t bits) { return 64 + std::ceil(static_cast<double>(bits) / 64) * 8 + 4; }

result<summary> filter_summary(std::uint64_t items, std::uint64_t lacking, const settings& how,
                               digest_width width, const hasher& hash) {
    const auto g = filter_geometry(items, how.bits_per_item, hash);
    if (!g) return g.error();
    summary s = measured(items, width, hash, [&](std::uint64_t n, const digest_set& set) {
        const geometry part = n == items ? *g : *filter_geometry(n, how.bits_per_item, hash);
        return payload_of_filter(*filter_of(set, part)).size();
    });
    s.most = wire(width, hash).message(longest(g->bits));
    s.bytes = std::min(s.bytes, s.most);
    s.found = theory::filter_found(rate(static_cast<double>(items), g->bits, g->hashes));
    if (lacking > 0) s.found_deviation = std::sqrt(s.found * (1 - s.found) / static_cast<double>(lacking));
    return s;
}

result<summary> tree_summary(std::uint64_t items, std::uint64_t searcher, std::uint64_t lacking,
                             const settings& how, digest_width width, const hasher& hash) {
    const auto shape = plan_tree(items, how.bits_per_item);
    if (!shape) return shape.error();
    summary s = measured(items, width, hash, [&](std::uint64_t n, const digest_set& set) {
        std::vector<std::byte> bytes;
        reconciliation_tree::make(set, n == items ? *shape : *plan_tree(n, how.bits_per_item))
            ->append_to(bytes);
        return bytes.size();
    });
    constexpr double own_fields = 3 + 2 * 10;
    s.most = wire(width, hash).message(own_fields + longest(shape->node_bits) + longest(shape->leaf_bits));
    s.bytes = std::min(s.bytes, s.most);
    const auto keys = static_cast<double>(items);
    const auto path = theory::tree_path(static_cast<double>(searcher), shape->grain);
    const double node_rate =
        rate(theory::tree_nodes(keys, shape->grain), shape->node_bits, shape->node_hashes);
    const double leaf_rate = rate(keys, shape->leaf_bits, shape->leaf_hashes);
    s.found = theory::tree_found(path, shape->corrections, node_rate, leaf_rate);
    s.found_deviation = theory::tree_found_deviation(path, shape->corrections, node_rate, leaf_rate,
                                                     static_cast<double>(lacking));
    return s;
}

// Both send a summary, and the peer an offer of what it found.
result<forecast> expect_summaries(const set_sizes& sizes, const settings& how, digest_width width,
                                  const hasher& hash) {
    const auto summary_of = [&](std::uint64_t items, std::uint64_t searcher, std::uint64_t lacking) {
        return how.method == method::filter ? filter_summary(items, lacking, how, width, hash)
                                            : tree_summary(items, searcher, lacking, how, width, hash);
    };
    const auto mine = summary_of(sizes.here(), sizes.there(), sizes.only_there);
    if (!mine) return mine.error();
    const auto theirs = summary_of(sizes.there(), sizes.here(), sizes.only_here);
    if (!theirs) return theirs.error();
    const wire bytes(width, hash);
    const auto here = static_cast<double>(sizes.only_here), there = static_cast<double>(sizes.only_there);
    forecast f;
    if (sizes.difference() > 0) {
        f.found = (here * theirs->found + there * mine->found) / (here + there);
        f.found_deviation =
            std::hypot(here * theirs->found_deviation, there * mine->found_deviation) / (here + there);
    }
    f.bytes = mine->bytes + theirs->bytes + bytes.list(there * mine->found);
    f.deviation = std::sqrt(mine->variance + theirs->variance +
                            std::pow(bytes.element() * there * mine->found_deviation, 2));
    f.most = mine->most + theirs->most + bytes.list(there);
    return f;
}

}  // namespace

result<set_sizes> set_sizes::of(std::uint64_t here, std::uint64_t there, std::uint64_t difference) {
    const std::uint64_t more = here > there ? here - there : there - here;
    if (difference < more)
        return error::invalid("a difference of fewer items than that of the sizes of the sets");
    if (difference - more > 2 * std::min(here, there))
        return error::invalid("a difference of more items than both sets have");
    const std::uint64_t half = (difference - more) / 2;
    const std::uint64_t only_here = half + (here > there ? more : 0);
    return set_sizes{here - only_here, only_here, difference - only_here};
}

result<forecast> expect(const set_sizes& sizes, const settings& how, digest_width width, const hasher& hash) {
    if (how.method != method::exact) return expect_summaries(sizes, how, width, hash);
    const bool all_real = sizes.here() + sizes.there() <= small;
    const auto all = all_real ? rehearse_sessions(sizes, width, hash) : rehearse_exact(sizes, width, hash);
    if (!all) return all.error();
    forecast f = all->means();
    f.most = most_of_exact(sizes, wire(width, hash), width);
    return f;
}

}  // namespace posy::reconcile
