// The spectral Bloom filter (Cohen and Matias 2003): a multiset. Where a Bloom filter has bits it has
// counters, and the least counter of a key is at least its number of occurrences.
//
// Three ways to count, in the paper's names; m counters, k hashes, any layout:
//
//   minimum selection   every counter of the key goes up. Wrong exactly where the Bloom filter of the other
//                       keys has a false positive. Keys can be removed, filters unite.
//   minimum increase    only the least counters go up (the conservative update of Estan and Varghese 2002):
//                       errors a few times fewer and smaller at no cost. No removal: a key may have raised a
//                       counter by less than its removal would subtract. United, it bounds from above.
//   recurring minimum   a key whose least counter stands alone is suspect: other keys raised all others.
//                       Such keys are moved: marked in a Bloom filter of m bits, and counted from then on in
//                       a second filter of m/2 counters as well. The fewest errors, and keys can be removed.
//
// Estimates are never below the truth, with one exception: the marks of the recurring minimum have false
// positives, and such a key may be looked up in, or removed from, a second filter that does not hold it.
// at_most() is never below the truth, whatever the method.
//
// Cost: 4 bytes per counter, or 8 where counts need them; with the recurring minimum half as much again and
// one bit per counter; k random accesses.
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/bloom_filter.hpp"
#include "posy/counter_width.hpp"
#include "posy/read_limits.hpp"

namespace posy {

// The numbers are on the wire.
enum class spectral_method : std::uint8_t {
    minimum_selection = 1,
    minimum_increase = 2,
    recurring_minimum = 3
};
constexpr std::string_view name_of(spectral_method member) {
    switch (member) {
        case spectral_method::minimum_selection:
            return "minimum selection";
        case spectral_method::minimum_increase:
            return "minimum increase";
        case spectral_method::recurring_minimum:
            return "recurring minimum";
    }
    return {};
}

class spectral_filter {
  public:
    // As many counters as the geometry has bits. An error when it is impossible or its memory cannot be
    // allocated.
    static result<spectral_filter> make(const posy::geometry&, spectral_method,
                                        posy::counter_width = posy::counter_width::bits_32);

    const posy::geometry& geometry() const { return geometry_; }
    spectral_method method() const { return method_; }
    // Counters saturate at largest_of() this, which then means "at least this".
    posy::counter_width counter_width() const { return counter_width_; }
    // The hasher that makes this filter's digests.
    hasher hash() const { return hasher(geometry_.hash, geometry_.seed); }
    // Occurrences inserted and not removed, of all keys.
    std::uint64_t items() const { return items_; }
    // As many counters as the geometry has bits.
    std::uint64_t counter(std::uint64_t i) const;

    void insert(digest d, std::uint64_t times = 1);
    // Removes one occurrence. False when the key is certainly absent; then nothing has changed. As with a
    // counting filter, removing a key that only looks present cannot be detected and damages other keys. An
    // error with the minimum increase.
    result<bool> remove(digest d);

    // How often the key is there.
    std::uint64_t estimate(digest d) const;
    // An upper bound that always holds.
    std::uint64_t at_most(digest d) const;
    bool may_contain(digest d) const { return at_most(d) > 0; }

    // The share of `keys` different keys whose estimate is wrong. With minimum selection this is exactly the
    // rate of false positives among all other keys; the other two methods err less often.
    static double expected_wrong(const posy::geometry&, std::uint64_t keys);
    // The Bloom filter of the keys that are there. Its false-positive rate is the share of absent keys that
    // are taken for members, and it gives an estimate of the number of different keys (posy/estimate.hpp).
    result<bloom_filter> projection() const;
    static std::uint64_t memory_bytes(const posy::geometry&, spectral_method,
                                      posy::counter_width = posy::counter_width::bits_32);
    std::uint64_t memory_bytes() const { return memory_bytes(geometry_, method_, counter_width_); }

    // The filter of both multisets. With the minimum selection it is exact; with the minimum increase
    // counters remain upper bounds (as in posy/count_min.hpp). Counters become wider where sums need it. With
    // the recurring minimum it is an error: a key that only one of the two has moved would be counted only in
    // part.
    friend result<void> unite(spectral_filter& into, const spectral_filter& from);

    // The bytes of docs/sketches.md; hash family and seed travel outside of them. parse() takes no more
    // memory than the limits allow and returns a valid filter or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<spectral_filter> parse(hasher hash, byte_view payload, const read_limits& = {});

  private:
    // Where the recurring minimum moves its suspects.
    struct second_filter {
        bit_array marks;  // at the positions of the first
        posy::geometry geometry;
        bit_array cells;
    };
    spectral_filter(const posy::geometry& g, spectral_method method, posy::counter_width counters,
                    bit_array cells, std::optional<second_filter> second)
        : geometry_(g),
          method_(method),
          counter_width_(counters),
          cells_(std::move(cells)),
          second_(std::move(second)) {}

    posy::geometry geometry_;
    spectral_method method_;
    posy::counter_width counter_width_;
    bit_array cells_;
    std::optional<second_filter> second_;
    std::uint64_t items_ = 0;
};

result<void> unite(spectral_filter& into, const spectral_filter& from);

}  // namespace posy
