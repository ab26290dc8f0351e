#include "reconcile/tree.hpp"

#include <cmath>
#include <utility>

#include "bits/array_memory.hpp"
#include "layout/all.hpp"
#include "payload.hpp"
#include "posy/plan.hpp"
#include "posy/theory.hpp"
#include "reconcile/theory.hpp"
#include "trie.hpp"

namespace posy::reconcile {
namespace {

constexpr unsigned max_corrections = 15, max_grain = 64;

unsigned best_hashes(double items, std::uint64_t bits) {
    const unsigned best = theory::optimal_hashes_integral(std::max(items, 1.0), static_cast<double>(bits));
    return std::min(best, layouts::spread::max_hashes);
}

// Inserts this node and those below it. There are at most 128 levels, one per bit.
void add_nodes(const trie& t, const trie::node& n, unsigned grain, bloom_filter& filter) {
    if (n.size() < grain) return;
    filter.insert(t.value(n));
    const std::size_t middle = t.split(n);
    add_nodes(t, {n.first, middle}, grain, filter);
    add_nodes(t, {middle, n.end}, grain, filter);
}

}  // namespace

result<tree_shape> plan_tree(std::uint64_t items, double bits_per_item, unsigned corrections,
                             unsigned grain) {
    if (corrections > max_corrections) return error::invalid("a tree takes at most 15 corrections");
    if (grain < 2 || grain > max_grain) return error::invalid("the grain of a tree is 2 to 64");
    if (!(bits_per_item > 0) || bits_per_item > 1000)
        return error::invalid("bits per item must be a positive number, at most 1000");
    const auto n = static_cast<double>(std::max<std::uint64_t>(items, 1));
    const double total = std::max(std::ceil(n * bits_per_item), 128.0);
    if (total > static_cast<double>(max_bits))
        return error::too_large("more than 2^40 bits; use fewer bits per item");
    const double nodes = theory::tree_nodes(n, grain);
    const auto path = theory::tree_path(n, grain);
    tree_shape best{corrections, grain};
    double best_found = -1;
    for (int share = 1; share < 64; ++share) {
        tree_shape shape{corrections, grain};
        shape.node_bits = static_cast<std::uint64_t>(total * share / 64);
        shape.leaf_bits = static_cast<std::uint64_t>(total) - shape.node_bits;
        shape.node_hashes = best_hashes(nodes, shape.node_bits);
        shape.leaf_hashes = best_hashes(n, shape.leaf_bits);
        // For a comparison the textbook formula is enough; the exact one takes a millisecond.
        const double found =
            theory::tree_found(path, corrections,
                               theory::false_positive_rate_asymptotic(
                                   nodes, static_cast<double>(shape.node_bits), shape.node_hashes),
                               theory::false_positive_rate_asymptotic(n, static_cast<double>(shape.leaf_bits),
                                                                      shape.leaf_hashes));
        if (found > best_found) best = shape, best_found = found;
    }
    return best;
}

result<reconciliation_tree> reconciliation_tree::make(const digest_set& set, const tree_shape& shape) {
    if (shape.corrections > max_corrections || shape.grain < 2 || shape.grain > max_grain)
        return error::invalid("a tree has 0 to 15 corrections and a grain of 2 to 64");
    geometry g{shape.node_bits, shape.node_hashes, layout_id::spread, set.hash().family(), set.hash().seed()};
    auto nodes = bloom_filter::make(g);
    if (!nodes) return nodes.error();
    g.bits = shape.leaf_bits;
    g.hashes = shape.leaf_hashes;
    auto leaves = bloom_filter::make(g);
    if (!leaves) return leaves.error();
    const trie t(set);
    add_nodes(t, t.root(), shape.grain, *nodes);
    for (std::size_t i = 0; i < set.size(); ++i) leaves->insert(t.leaf(i));
    return reconciliation_tree(set.width(), set.size(), shape.corrections, shape.grain, std::move(*nodes),
                               std::move(*leaves));
}

result<tree_search> reconciliation_tree::search(const digest_set& mine) const {
    if (auto kin = check_kin(mine, hash(), width_); !kin) return kin.error();
    const trie t(mine);
    tree_search s;
    const auto visit = [&](const auto& self, const trie::node& n, unsigned in_a_row) -> void {
        if (n.size() < grain_) {
            for (std::size_t i = n.first; i < n.end; ++i) {
                ++s.elements;
                if (!leaves_.may_contain(t.leaf(i))) s.found.push_back(mine.elements()[i]);
            }
            return;
        }
        ++s.nodes;
        in_a_row = nodes_.may_contain(t.value(n)) ? in_a_row + 1 : 0;
        if (in_a_row > corrections_) return;
        const std::size_t middle = t.split(n);
        self(self, {n.first, middle}, in_a_row);
        self(self, {middle, n.end}, in_a_row);
    };
    visit(visit, t.root(), 0);
    return s;
}

double reconciliation_tree::expected_found(std::uint64_t items_of_searcher) const {
    const auto rate_of = [](const bloom_filter& f) {
        const double items = static_cast<double>(f.items().value_or(0));
        return items == 0
                   ? 0
                   : theory::spread_rate(items, static_cast<double>(f.geometry().bits), f.geometry().hashes);
    };
    return theory::tree_found(theory::tree_path(static_cast<double>(items_of_searcher), grain_), corrections_,
                              rate_of(nodes_), rate_of(leaves_));
}

void reconciliation_tree::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(width_));
    out.push_back(static_cast<std::byte>(corrections_));
    out.push_back(static_cast<std::byte>(grain_));
    for (const bloom_filter* filter : {&nodes_, &leaves_}) {
        const auto message = to_bytes(*filter, {.want = coding::smallest});
        base::put_varint(out, message.size());
        out.insert(out.end(), message.begin(), message.end());
    }
}

result<reconciliation_tree> reconciliation_tree::parse(const hasher& hash, byte_view bytes,
                                                       const read_limits& limits) {
    payload_reader in(bytes);
    const digest_width width = in.width();
    const unsigned corrections = in.byte();
    if (corrections > max_corrections) in.fail("more than 15 corrections");
    const unsigned grain = in.byte();
    if (grain < 2 || grain > max_grain) in.fail("a grain that is not 2 to 64");
    std::vector<bloom_filter> filters;
    const std::uint64_t most = limits.most(bytes.size());
    std::uint64_t taken = 0;
    while (filters.size() < 2) {
        const byte_view message = in.take(in.varint());
        if (in.wrong()) return *in.wrong();
        const std::uint64_t start = in.offset() - message.size();
        auto read = from_bytes(message, read_limits::exactly(most - taken));
        if (!read) return read.error().in_part_at(start);
        auto* filter = std::get_if<bloom_filter>(&read->body);
        if (!filter || read->size != message.size() || !filter->items() || filter->hash() != hash ||
            filter->geometry().layout != layout_id::spread) {
            return error::damaged("not a spread filter of the tree's hash that knows its items", start);
        }
        taken += bits::array_memory(filter->geometry().bits);
        filters.push_back(std::move(*filter));
    }
    if (auto wrong = in.finish()) return *wrong;
    const std::uint64_t items = *filters[1].items();
    return reconciliation_tree(width, items, corrections, grain, std::move(filters[0]),
                               std::move(filters[1]));
}

}  // namespace posy::reconcile
