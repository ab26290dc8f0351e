// The binary trie of a sorted set, without one-way branches. It is not stored: a node is a range of elements
// with a common prefix, and its children are what is before and after the place where the next bit turns. The
// exclusive-or of a range is that of two prefixes.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "derive.hpp"

namespace posy::reconcile {

class trie {
  public:
    struct node {
        std::size_t first = 0, end = 0;
        std::size_t size() const { return end - first; }
    };

    // The set must outlive the trie.
    explicit trie(const digest_set& set) : elements_(set.elements()), width_(set.width()) {
        sums_.reserve(elements_.size() + 1);
        sums_.push_back(0);
        for (const digest& element : elements_)
            sums_.push_back(sums_.back() ^ derive(element, purpose::node));
    }

    node root() const { return {0, elements_.size()}; }

    // The digest by which a node is looked up in a filter.
    digest value(const node& n) const {
        const std::uint64_t sum = sums_[n.end] ^ sums_[n.first];
        return {mix(sum), mix(~sum)};
    }
    digest leaf(std::size_t i) const { return probe_of(elements_[i], width_); }

    // Where the second child starts. Precondition: at least two elements.
    std::size_t split(const node& n) const {
        const digest &first = elements_[n.first], last = elements_[n.end - 1];
        const bool by_low = first.low != last.low;
        const auto half = [&](const digest& d) { return by_low ? d.low : d.high; };
        const std::uint64_t turn = std::bit_floor(half(first) ^ half(last));
        const auto range = elements_.subspan(n.first, n.size());
        const auto second =
            std::ranges::partition_point(range, [&](const digest& d) { return (half(d) & turn) == 0; });
        return n.first + static_cast<std::size_t>(second - range.begin());
    }

  private:
    std::span<const digest> elements_;
    digest_width width_;
    std::vector<std::uint64_t> sums_;
};

}  // namespace posy::reconcile
