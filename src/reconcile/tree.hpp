// The approximate reconciliation tree: a set in two Bloom filters that can be searched for what they lack
// without asking for every element (Byers, Considine and Mitzenmacher 2002; Byers, Considine, Mitzenmacher
// and Rost 2004).
//
// The digests are the leaves of a binary trie, and the value of a node is the exclusive-or of a hash of each
// element below it. A sends a filter of its node values and one of its leaves. B walks its own trie from the
// root: where A has the node, nothing below differs, and it turns back; where A has not, it goes on to both
// children; a leaf that A has not is one that A lacks. With d differences among n elements that is about d
// log(n / d) nodes. A node taken for a member by mistake hides all that is below it, so B turns back only
// after `corrections` + 1 such nodes in a row.
//
// Half of all nodes have only two or three elements. They cost bits and save next to nothing, so those of
// fewer than `grain` elements stay out of the filter and their leaves are asked at once; a grain of 2 is the
// tree of the paper. At 10 bits per element and n = 10^6 that is a share of 0.98 found instead of 0.81, with
// fewer nodes visited (theory::tree_found; measured in tests/reconcile/tree_test.cpp).
//
// Cost: making one is a pass over the sorted set and 8 bytes per element; no trie is built, since a node is a
// range of the sorted digests. Thread safety: const calls from many threads.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

struct tree_shape {
    unsigned corrections = 1;  // 0 to 15
    unsigned grain = 8;        // 2 to 64
    std::uint64_t node_bits = 0, leaf_bits = 0;
    unsigned node_hashes = 0, leaf_hashes = 0;
};

// The best tree for this many items with this many bits per item in both filters together: the bits are
// divided so that theory::tree_found is greatest.
result<tree_shape> plan_tree(std::uint64_t items, double bits_per_item, unsigned corrections = 1,
                             unsigned grain = 8);

// What a search found, and what it cost.
struct tree_search {
    std::vector<digest> found;   // ascending
    std::uint64_t nodes = 0;     // of the searcher's trie that were looked up
    std::uint64_t elements = 0;  // that were
};

class reconciliation_tree {
  public:
    static result<reconciliation_tree> make(const digest_set&, const tree_shape&);

    hasher hash() const { return leaves_.hash(); }
    digest_width width() const { return width_; }
    std::uint64_t items() const { return items_; }
    unsigned corrections() const { return corrections_; }
    unsigned grain() const { return grain_; }
    const bloom_filter& nodes() const { return nodes_; }
    const bloom_filter& leaves() const { return leaves_; }

    // The elements of `mine` that the tree's set lacks, as far as it tells. An error if they are digests of
    // another kind.
    result<tree_search> search(const digest_set& mine) const;
    // The share of them that a searcher with this many elements finds.
    double expected_found(std::uint64_t items_of_searcher) const;

    void append_to(std::vector<std::byte>& out) const;
    static result<reconciliation_tree> parse(const hasher& hash, byte_view bytes, const read_limits& = {});

  private:
    reconciliation_tree(digest_width width, std::uint64_t items, unsigned corrections, unsigned grain,
                        bloom_filter nodes, bloom_filter leaves)
        : width_(width),
          items_(items),
          corrections_(corrections),
          grain_(grain),
          nodes_(std::move(nodes)),
          leaves_(std::move(leaves)) {}

    digest_width width_;
    std::uint64_t items_;
    unsigned corrections_, grain_;
    bloom_filter nodes_, leaves_;
};

}  // namespace posy::reconcile
