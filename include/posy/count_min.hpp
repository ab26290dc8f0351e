// Count-Min (Cormode and Muthukrishnan 2004): how often was this key seen, in a table of any size.
//
// `depth` rows of `width` counters; a key has one counter in each row, counted up with every occurrence, and
// the least of them is the estimate. It is never below the truth N_x (until 2^32 − 1), and above N_x + εN, ε
// = e/width and N the total of all weights, only with probability δ = e^−depth: a row's expected excess is at
// most N/width, and Markov's inequality has to fail in all rows. The guarantee needs no more than pairwise
// independent rows (posy/row_hash.hpp) and holds for every key and stream that were not chosen to fit the
// seed.
//
// With the conservative rule (Estan and Varghese 2002) a counter that is above the key's new upper bound
// stays as it is. Every counter is then at most what the plain rule makes it and still at least N_x for all
// its keys: the same guarantee, and errors several times smaller. docs/sketches.md has figures.
//
// Cost: one random access a row; in batches those of many keys overlap, and positions are computed by
// vectors. Thread safety: none; const calls may run together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "posy/cell_array.hpp"
#include "posy/row_hash.hpp"

namespace posy {

class count_min {
  public:
    static constexpr unsigned max_depth = 32;

    static result<count_min> make(hasher hash, std::uint64_t width, unsigned depth,
                                  update_rule rule = update_rule::plain);
    // The smallest table that keeps the guarantee: width ⌈e/ε⌉ (or a hair more, posy/theory.hpp), depth
    // ⌈ln 1/δ⌉.
    static result<count_min> with_guarantee(hasher hash, double epsilon, double delta,
                                            update_rule rule = update_rule::plain);
    // The widest table of so many rows in so many bytes.
    static result<count_min> with_bytes(hasher hash, std::uint64_t bytes, unsigned depth = 4,
                                        update_rule rule = update_rule::plain);

    std::uint64_t width() const { return width_; }
    unsigned depth() const { return static_cast<unsigned>(rows_.size()); }
    update_rule rule() const { return rule_; }
    // The hasher that makes this sketch's digests.
    hasher hash() const { return hash_; }
    const cell_array& cells() const { return cells_; }

    // Counts the key and returns its new estimate.
    std::uint32_t add(digest d, std::uint32_t weight = 1) {
        count(weight);
        const row_list at = positions(d);
        return cells_.count(rule_, depth(), at, weight);
    }
    // At least the sum of the weights that the key was added with; cell_array::largest means "so much or
    // more".
    std::uint32_t estimate(digest d) const { return cells_.least(depth(), positions(d)); }

    // Batches, every key with weight 1: about twice as fast. Where `estimates` are asked for there is one a
    // key, what add() would have returned. Precondition: then the spans are of one length.
    void add(std::span<const digest> digests, std::span<std::uint32_t> estimates = {});
    void add(std::span<const std::uint64_t> keys, std::span<std::uint32_t> estimates = {});
    void estimate(std::span<const digest> digests, std::span<std::uint32_t> estimates) const;

    // N, the sum of all weights; it stops at 2^64 − 1.
    std::uint64_t total() const { return total_; }
    double epsilon() const;
    double delta() const;
    // εN: how far above the truth an estimate is, but for a share δ of the keys.
    double error_bound() const { return epsilon() * static_cast<double>(total_); }

    // The sketch of both streams. Counters add up: plain, that is bit for bit the sketch of the two streams
    // one behind the other. Conservative, it is not (the order of a stream matters there), but the sum of two
    // upper bounds is one, and no counter passes what the plain rule would make it: the guarantee holds, and
    // counting may go on. Tables of different shape, rule or hasher do not combine.
    result<void> merge(const count_min& from);
    void clear();
    result<count_min> clone() const;

    // The bytes of docs/sketches.md; hash family and seed travel outside of them. parse() takes no more
    // memory than max_bytes and answers with a valid sketch or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<count_min> parse(hasher hash, byte_view payload, std::uint64_t max_bytes);

    friend bool operator==(const count_min& a, const count_min& b) {
        return a.same_shape(b) && a.total_ == b.total_ && a.cells_ == b.cells_;
    }

  private:
    count_min(hasher hash, std::uint64_t width, unsigned depth, update_rule rule, cell_array cells);
    bool same_shape(const count_min& other) const {
        return hash_ == other.hash_ && width_ == other.width_ && depth() == other.depth() &&
               rule_ == other.rule_;
    }
    struct row_list {
        std::array<std::uint64_t, max_depth> position;
        std::uint64_t operator()(unsigned row) const { return position[row]; }
    };
    row_list positions(digest d) const {
        row_list at;
        for (unsigned row = 0; row < depth(); ++row) at.position[row] = row * width_ + rows_[row](d, width_);
        return at;
    }
    void count(std::uint64_t weight) { total_ = saturating_sum(total_, weight); }
    template <class Digests, class Use>
    void in_blocks(std::size_t keys, Digests digests, Use use) const;
    template <class Digests>
    void add_blocks(std::size_t keys, Digests digests, std::span<std::uint32_t> estimates);

    hasher hash_;
    std::uint64_t width_;
    update_rule rule_;
    std::vector<row_hash> rows_;
    cell_array cells_;
    std::uint64_t total_ = 0;
};

}  // namespace posy
