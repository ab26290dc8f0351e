// Count-Min (Cormode and Muthukrishnan 2004): how often a key was seen, in a table of any size.
//
// `depth` rows of `width` counters; a key has one counter in each row, counted up with every occurrence, and
// the least of them is the estimate. It is never below the truth N_x, and above N_x + εN, ε
// = e/width and N the total of all weights, only with probability δ = e^−depth: a row's expected excess is at
// most N/width, and Markov's inequality has to fail in all rows. The guarantee needs no more than pairwise
// independent rows and holds for every key and stream that were not chosen to fit the
// seed.
//
// With the conservative rule (Estan and Varghese 2002) a counter that is above the key's new upper bound
// stays as it is. Every counter is then at most what the plain rule makes it and still at least N_x for all
// its keys: the same guarantee, and errors several times smaller. docs/sketches.md has figures.
//
// Cost: one random access per row; in batches those of many keys overlap, and positions are computed with
// SIMD. A counter has 32 bits, or 64 for sums that need them. Thread safety: none; const calls may run
// together.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/bit_array.hpp"
#include "posy/counter_width.hpp"
#include "posy/digest.hpp"
#include "posy/read_limits.hpp"

namespace posy {

// The numbers are on the wire.
enum class update_rule : std::uint8_t {
    plain = 1,         // every counter of the key grows by the weight
    conservative = 2,  // no counter of the key grows beyond the least of them plus the weight
};
constexpr std::string_view name_of(update_rule member) {
    switch (member) {
        case update_rule::plain:
            return "plain";
        case update_rule::conservative:
            return "conservative";
    }
    return {};
}

class count_min {
  public:
    static constexpr unsigned max_depth = 32;
    static constexpr std::uint64_t max_counters = std::uint64_t{1} << 32;

    static result<count_min> make(hasher hash, std::uint64_t width, unsigned depth,
                                  update_rule rule = update_rule::plain,
                                  posy::counter_width counters = posy::counter_width::bits_32);
    // The smallest table that keeps the guarantee: width ⌈e/ε⌉ (or a hair more, posy/theory.hpp), depth
    // ⌈ln 1/δ⌉.
    static result<count_min> with_guarantee(hasher hash, double epsilon, double delta,
                                            update_rule rule = update_rule::plain,
                                            posy::counter_width counters = posy::counter_width::bits_32);
    // The widest table of `depth` rows that fits the bytes.
    static result<count_min> with_bytes(hasher hash, std::uint64_t bytes, unsigned depth = 4,
                                        update_rule rule = update_rule::plain,
                                        posy::counter_width counters = posy::counter_width::bits_32);

    std::uint64_t width() const { return width_; }
    unsigned depth() const { return depth_; }
    update_rule rule() const { return rule_; }
    // The hasher that makes this sketch's digests.
    hasher hash() const { return hash_; }
    // Row after row, counters() of them.
    std::uint64_t counters() const { return width_ * depth_; }
    std::uint64_t counter(std::uint64_t i) const;
    // Counters saturate at largest_of() this, which then means "at least this".
    posy::counter_width counter_width() const { return counter_width_; }
    std::uint64_t memory_bytes() const { return counters() * bytes_of(counter_width_); }

    // Counts the key and returns its new estimate.
    std::uint64_t add(digest d, std::uint64_t weight = 1);
    // At least the sum of the weights that the key was added with.
    std::uint64_t estimate(digest d) const;

    // Batches, every key with weight 1: about twice as fast. If `estimates` is not empty, it receives for
    // each key what add() would have returned. Precondition: then the spans have the same length.
    void add(std::span<const digest> digests, std::span<std::uint64_t> estimates = {});
    void add(std::span<const std::uint64_t> keys, std::span<std::uint64_t> estimates = {});
    void estimate(std::span<const digest> digests, std::span<std::uint64_t> estimates) const;

    // N, the sum of all weights; it stops at 2^64 − 1.
    std::uint64_t total() const { return total_; }
    double epsilon() const;
    double delta() const;
    // εN: estimates are at most this far above the truth, except for a share δ of the keys.
    double error_bound() const { return epsilon() * static_cast<double>(total_); }

    // The sketch of both streams: counters add up. With the plain rule the result is bit for bit the sketch
    // of the concatenated streams. With the conservative rule it is not, because there the order of a stream
    // matters; but the sum of two upper bounds is an upper bound, and no counter exceeds its value under the
    // plain rule, so the guarantee holds and counting may continue. Counters become 64 bits wide where sums
    // need it, or those of one sketch are. Tables of different shape, rule or hasher do not combine.
    friend result<void> unite(count_min& into, const count_min& from);
    void clear();
    result<count_min> clone() const;

    // The bytes of docs/sketches.md; hash family and seed travel outside of them. parse() takes no more
    // memory than the limits allow and returns a valid sketch or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<count_min> parse(hasher hash, byte_view payload, const read_limits& = {});

    friend bool operator==(const count_min& a, const count_min& b) {
        return a.same_shape(b) && a.counter_width_ == b.counter_width_ && a.total_ == b.total_ &&
               a.cells_ == b.cells_;
    }

  private:
    count_min(hasher hash, std::uint64_t width, unsigned depth, update_rule rule,
              posy::counter_width counters, bit_array cells);
    bool same_shape(const count_min& other) const {
        return hash_ == other.hash_ && width_ == other.width_ && depth_ == other.depth_ &&
               rule_ == other.rule_;
    }
    struct row_list;
    row_list positions(digest d) const;
    void count(std::uint64_t weight);
    template <class Digests, class Use>
    void in_blocks(std::size_t keys, Digests digests, Use use) const;
    template <class Digests>
    void add_blocks(std::size_t keys, Digests digests, std::span<std::uint64_t> estimates);

    hasher hash_;
    std::uint64_t width_;
    unsigned depth_;
    update_rule rule_;
    std::vector<std::uint64_t> rows_;  // the random parameters of each row's hash function
    posy::counter_width counter_width_;
    bit_array cells_;
    std::uint64_t total_ = 0;
};

result<void> unite(count_min& into, const count_min& from);

}  // namespace posy
