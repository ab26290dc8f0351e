// "Seen lately?": a set whose keys expire after a time.
//
// Time is cut into slots of T/g, for a window T and g generations, and each slot has a Bloom filter of its
// own; when that has taken its share of the keys, another one of the same size follows in the same slot. Each
// array records the time of its last insertion and is queried until T after it. So a key is remembered for at
// least T after its last insertion, and for less than T·(1 + 1/g). The only other error is false positives,
// which add up over the arrays.
//
// The promise: as long as no interval of length T has more than the planned number of keys, the rate is at
// most the planned one, however unevenly the keys arrive (docs/growing.md, section 2, has the proof). A key
// that the array in use has already is not inserted again and costs nothing; one that comes back in a later
// array counts again there. If more keys arrive than planned, arrays are added, and the rate rises in
// proportion to the keys.
//
// Time is a number that the caller passes in, in any unit, and never runs backwards: a query for a time
// before the latest insertion is answered as of that insertion. A late key goes into the slot of its own
// time, as long as that slot is remembered.
//
// Cost: g + 1 arrays, each for the keys of T/g, if keys come evenly; at most 2g + 2 within the plan. A query
// asks all of them. Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"
#include "posy/provenance.hpp"
#include "posy/read_limits.hpp"

namespace posy {

class window_filter {
  public:
    static constexpr unsigned max_generations = 254;

    // `planned` is the largest number of keys in a window, and the rate that holds up to that number. `g` is
    // the geometry of one array. A slot is ⌈window / generations⌉.
    static result<window_filter> make(const posy::geometry& g, const promise& planned, std::uint64_t window,
                                      unsigned generations);
    // The plan of one array of a filter that keeps the promise, with the keys of one slot if keys arrive
    // evenly.
    static result<plan> plan_generation(const promise&, unsigned generations,
                                        layout_id layout = layout_id::blocked);
    // The largest number of arrays as long as no window has more keys than planned.
    static constexpr std::uint64_t most_arrays(unsigned generations) { return 2 * generations + 2; }
    static result<window_filter> with_rate(std::uint64_t items, double rate, std::uint64_t window,
                                           unsigned generations, layout_id layout = layout_id::blocked,
                                           hasher hash = hasher());

    // Of one array.
    const posy::geometry& geometry() const { return geometry_; }
    // The hasher that makes this filter's digests.
    hasher hash() const { return hasher(geometry_.hash, geometry_.seed); }
    const promise& planned() const { return planned_; }
    unsigned generations() const { return generations_; }
    std::uint64_t slot() const { return slot_; }
    // The bounds on how long a key is remembered: at least the first, less than the second.
    std::uint64_t remembered_at_least() const { return slot_ * generations_; }
    std::uint64_t forgotten_after() const { return slot_ * (generations_ + 1); }
    // After this many keys an array is followed by another.
    std::uint64_t quota() const;
    // The largest value of items() as long as no window has more keys than planned.
    std::uint64_t most_items() const;

    // Inserts the key, or keys, at this time; the time of a key that is already there is renewed. False when
    // the time is more than a window before the latest insertion; then nothing has changed. If the memory of
    // another array cannot be allocated, an older one takes the keys: the rate rises, and nothing is
    // forgotten.
    bool insert(digest d, std::uint64_t time) { return insert(std::span(&d, 1), time); }
    bool insert(std::span<const digest> digests, std::uint64_t time);

    bool may_contain(digest d, std::uint64_t time) const;
    // One answer per digest; returns how many were yes. Precondition: the spans have the same length.
    std::size_t may_contain(std::span<const digest> digests, std::uint64_t time,
                            std::span<bool> answers) const;

    // The probability that a key that was never inserted is answered with yes at that time, computed from the
    // actual bits; an upper bound where keys are in several arrays, which then share bits (docs/growing.md).
    double false_positive_rate(std::uint64_t time) const;
    // The number of keys remembered at that time; a key in several arrays is counted in each.
    std::uint64_t items(std::uint64_t time) const;
    // The time of the latest insertion.
    std::uint64_t latest() const { return latest_; }
    // The number of arrays queried at that time, and the memory of all arrays.
    std::uint64_t arrays(std::uint64_t time) const;
    std::uint64_t memory_bytes() const;

    // into := into ∪ from: what either has seen, slot by slot; the latest insertion is the later of the two.
    // Geometries, plans and slots must be equal, and both must use the same clock: slots begin at the
    // multiples of their length. An error where they differ or memory cannot be allocated, and then nothing
    // has changed.
    friend result<void> unite(window_filter& into, const window_filter& from);

    // The bytes of docs/growing.md; hash family and seed travel outside of them. parse() takes no more memory
    // than the limits allow and returns a valid filter or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<window_filter> parse(hasher hash, byte_view payload, const read_limits& = {});

  private:
    // All keys of an array are of one slot.
    struct generation {
        bloom_filter filter;
        std::uint64_t slot;  // its number
        std::uint64_t last;  // time of its last insertion
    };

    window_filter(const posy::geometry& g, const promise& planned, std::uint64_t slot, unsigned generations)
        : geometry_(g), planned_(planned), slot_(slot), generations_(generations) {}
    bool asked(const generation& one, std::uint64_t now) const {
        return now - one.last <= remembered_at_least();
    }
    void advance(std::uint64_t time);
    std::size_t behind(std::uint64_t slot) const;
    std::size_t begin_array(std::uint64_t slot);
    template <class Use>
    void each_asked(std::uint64_t time, Use use) const;

    posy::geometry geometry_;
    promise planned_;
    std::uint64_t slot_;
    unsigned generations_;
    std::vector<generation> arrays_;   // by slot; within a slot, in the order of their creation
    std::vector<bloom_filter> spare_;  // empty ones for reuse; arrays_ and spare_ are never both empty
    std::uint64_t latest_ = 0;
};

result<void> unite(window_filter& into, const window_filter& from);

}  // namespace posy
