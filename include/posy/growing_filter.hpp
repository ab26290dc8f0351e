// A Bloom filter for a set of unknown size: it keeps a promised rate for any number of keys, and ends up
// about as small as if the number had been known.
//
// Folding is exact (posy/algebra.hpp): an array too large by a factor d, folded by d, is bit for bit the
// filter that should have been built. So keys go into an array that is far too large, and in the end it is
// folded by the largest divisor that keeps the rate. Two things make this work. Its size has many divisors (a
// multiple of 55440), so that one is close to the best. And it counts as full when it could only just be
// folded by 6, since small divisors are far apart: from 6 on, the next is at most a sixth away. Then a
// further array is begun, 4 times as large (a series of arrays: Almeida, Baquero, Preguiça and Hutchison
// 2007); what an older one has is not inserted again. In the end all are folded so that together, 1 − Π(1 −
// f_i), they keep the promise and are as small as can be. There is no need to share the rate out beforehand,
// as the paper does: arrays are so sparse until they are folded that together they are far below it.
//
// Cost while it grows: the first array at once (61 MiB unless asked otherwise, for 8.5 million keys at 1 %),
// then 5, 21, … times that. Not taken: to keep the keys' digests until their number is known (16 bytes each,
// for a filter of 1.2); to spread the old array over the larger one, each bit becoming four (one plain filter
// for any number of keys, but 15 to 30 % larger with every growth).
//
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/estimate.hpp"
#include "posy/plan.hpp"
#include "posy/read_limits.hpp"

namespace posy {

class growing_filter {
  public:
    struct options {
        double rate = 0.01;  // promised
        layout_id layout = layout_id::blocked;
        std::optional<unsigned> hashes{};  // the best for the rate, unless given
        hasher hash{};
        std::uint64_t first_bytes = 64 << 20;  // at most, of the first array
    };
    static constexpr unsigned max_arrays = 10;

    static result<growing_filter> make(const options&);

    // What a filter of this many different keys will take: memory while it grows, and the result of shrink().
    struct forecast {
        unsigned arrays = 0, hashes = 0;
        std::uint64_t growing_bits = 0;  // of all arrays, and in the end:
        std::uint64_t bits = 0;
        double message_bits = 0;          // of the entropy-coded arrays
        std::uint64_t payload_bytes = 0;  // as append_to() writes it
        double false_positive_rate = 0;
    };
    static result<forecast> expect(const options&, std::uint64_t items);

    double promised_rate() const { return rate_; }
    // The hasher that makes this filter's digests.
    hasher hash() const { return arrays_.front().hash(); }
    // The arrays, oldest first. Each is a filter of some of the keys; its items() counts the keys that no
    // array seemed to have already.
    std::span<const bloom_filter> arrays() const { return arrays_; }
    std::uint64_t bits() const;
    // The number of insertions, repeated keys counted again.
    std::uint64_t items() const { return items_; }

    // An error when another array is due and its memory cannot be allocated. The keys are inserted
    // nevertheless, into the last array, and the rate will be exceeded. After shrink(): an error, and nothing
    // is inserted.
    result<void> insert(digest d) { return insert(std::span(&d, 1)); }
    result<void> insert(std::span<const digest> digests);

    bool may_contain(digest d) const;
    // One answer per digest; returns how many were yes. Precondition: the spans have the same length.
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const;

    // The probability that a key that was never inserted is answered with yes, computed from the actual bits.
    double false_positive_rate() const;

    // The keys as one plain filter of the smallest size that keeps the promise, if there is only one array;
    // an error otherwise. Its plan is the keys that are there and the promised rate.
    result<bloom_filter> fold_down() const;
    // Folds all arrays as far as the promise allows. From then on no keys can be inserted.
    result<void> shrink();
    bool shrunk() const { return shrunk_; }

    // into := into ∪ from, array by array, if their options are equal, neither is shrunk, and the promise can
    // still be kept; otherwise an error, and nothing has changed.
    friend result<void> unite(growing_filter& into, const growing_filter& from);

    // The bytes of docs/growing.md; hash family and seed travel outside of them. parse() takes no more memory
    // than the limits allow and returns a valid filter or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<growing_filter> parse(hasher hash, byte_view payload, const read_limits& = {});

  private:
    growing_filter(double rate, std::vector<bloom_filter> arrays)
        : rate_(rate), arrays_(std::move(arrays)), came_(arrays_.size()) {}
    void insert_new(std::span<const digest> digests);
    double different_keys(std::size_t array) const;
    result<void> look_for_room();
    result<std::vector<bloom_filter>> folded() const;

    double rate_;
    std::vector<bloom_filter> arrays_;
    std::vector<std::uint64_t> came_;  // per array: insertions while it was the last, skipped ones too
    bool shrunk_ = false;
    std::uint64_t items_ = 0;
    std::uint64_t sure_room_ = 0;  // this many more insertions cannot fill the last array
};

// The number of different keys: the sum over the arrays, which hold different keys, and those that an older
// array seemed to have. (After unite() arrays may share keys; those count twice.)
estimate estimate_items(const growing_filter&, double level = 0.95);

result<void> unite(growing_filter& into, const growing_filter& from);

}  // namespace posy
