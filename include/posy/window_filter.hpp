// "Seen lately?": a set whose keys are forgotten by themselves, as time goes on.
//
// Time is cut into slots of T/g, for a window T and g generations, and each slot has a Bloom filter of its
// own; when that has taken its share of the keys, another one of the same size follows in the same slot. Each
// array remembers when it was last given a key, and is asked for a window from then on. So a key is
// remembered for at least T after it was last inserted, and for less than T·(1 + 1/g): the edge is at most as
// wide as a slot, and it is the far edge that blurs, never the promise. There is no other error but the false
// positives, which add up over the arrays.
//
// The promise: while no stretch of time T is given more than the planned number of keys, the rate is at most
// the planned one, however unevenly they come (docs/growing.md, section 2, has the proof). A key that the
// array in use has already is not inserted again and costs nothing; one that comes back in a later array
// counts again there. If more keys come than planned, further arrays follow, and the rate rises in proportion
// to the keys.
//
// Time is a number that the caller hands in, in whatever unit, and never runs backwards: what is behind the
// latest insertion is answered as of then. A key that comes late goes into the slot it belongs to, as long as
// that is remembered.
//
// Cost: g + 1 arrays, each for the keys of T/g, if keys come evenly; at most 2g + 2 within the plan. A
// question asks all of them. Thread safety: none; const calls may run together.
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

    // `planned` is the most keys that a window is given, and the rate that holds as long as they are no more.
    // `g` is the shape of one array. A slot is ⌈window / generations⌉.
    static result<window_filter> make(const posy::geometry& g, const promise& planned, std::uint64_t window,
                                      unsigned generations);
    // One array of such a filter that keeps the promise, and what it will be with the keys of a slot, if they
    // come evenly.
    static result<plan> plan_generation(const promise&, unsigned generations,
                                        layout_id layout = layout_id::blocked);
    // The most arrays that a filter has as long as no window is given more keys than planned.
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
    // A key is remembered for at least this long, and for less than the other.
    std::uint64_t remembered_at_least() const { return slot_ * generations_; }
    std::uint64_t forgotten_after() const { return slot_ * (generations_ + 1); }
    // After so many keys an array is followed by another.
    std::uint64_t quota() const;
    // The most that items() says as long as no window is given more keys than planned.
    std::uint64_t most_items() const;

    // The key, or keys, at this time; a key that is there already is remembered anew. False when that time is
    // more than a window behind the latest insertion, and then nothing has changed. Where the memory of a
    // further array cannot be had, an older one takes the keys: the rate rises, and nothing is forgotten.
    bool insert(digest d, std::uint64_t time) { return insert(std::span(&d, 1), time); }
    bool insert(std::span<const digest> digests, std::uint64_t time);

    bool may_contain(digest d, std::uint64_t time) const;
    // One answer per digest; how many were yes. Precondition: the spans are of one length.
    std::size_t may_contain(std::span<const digest> digests, std::uint64_t time,
                            std::span<bool> answers) const;

    // The probability that a key that was never inserted is answered with yes at that time, from these very
    // bits; an upper bound where keys came back, whose bits are the same in several arrays (docs/growing.md).
    double false_positive_rate(std::uint64_t time) const;
    // Keys that are remembered at that time; one that came back in a later array is counted again.
    std::uint64_t items(std::uint64_t time) const;
    // The time of the latest insertion.
    std::uint64_t latest() const { return latest_; }
    // Arrays that are asked at that time, and the memory of all there are.
    std::uint64_t arrays(std::uint64_t time) const;
    std::uint64_t memory_bytes() const;

    // into := into ∪ from: what either has seen, slot by slot; the clock is that of the later one. The
    // shapes, plans and slots must be equal, and both must have been told the same time: slots begin at the
    // multiples of their length. An error where they differ or memory cannot be had, and then nothing has
    // changed.
    friend result<void> unite(window_filter& into, const window_filter& from);

    // The bytes of docs/growing.md; hash family and seed travel outside of them. parse() takes no more memory
    // than the limits allow and answers with a valid filter or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<window_filter> parse(hasher hash, byte_view payload, const read_limits& = {});

  private:
    // All keys of an array are of one slot.
    struct generation {
        bloom_filter filter;
        std::uint64_t slot;  // its number
        std::uint64_t last;  // when it was last given a key
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
    std::vector<generation> arrays_;   // by slot, and those of one slot in the order in which they were begun
    std::vector<bloom_filter> spare_;  // empty ones, to be used again; at least one array is here or there
    std::uint64_t latest_ = 0;
};

}  // namespace posy
