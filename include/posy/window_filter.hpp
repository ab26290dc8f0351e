// "Seen lately?": a set whose keys are forgotten by themselves, as time goes on.
//
// Time is cut into slots of T/g, for a window T and g generations, and each slot has a Bloom filter of its
// own; a key goes into that of its time. A question at time t asks the slot of t and the g before it. So a
// key is remembered for at least T after it was last inserted, and for less than T·(1 + 1/g): the edge is as
// wide as a slot, and it is the far edge that blurs, never the promise. There is no other error but the false
// positives, which add up over the g + 1 generations. Old generations are cleared and used again.
//
// Time is a number that the caller hands in, in whatever unit, and never runs backwards: what is behind the
// latest insertion is answered as of then. A key that comes late goes into the slot it belongs to, as long as
// that is remembered.
//
// Cost: g + 1 arrays, each for the keys of T/g; as many questions. Thread safety: none; const calls may run
// together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"

namespace posy {

class window_filter {
  public:
    static constexpr unsigned max_generations = 254;

    // `g` is the shape of one generation. A slot is ⌈window / generations⌉.
    static result<window_filter> make(const posy::geometry& g, std::uint64_t window, unsigned generations);
    // One generation of such a filter that keeps the promise below.
    static result<plan> plan_generation(std::uint64_t items, double rate, unsigned generations,
                                        layout_id layout = layout_id::blocked);
    // Shaped so that the rate is at most the promised one as long as no window sees more than so many
    // different keys, spread evenly over its slots.
    static result<window_filter> with_rate(std::uint64_t items, double rate, std::uint64_t window,
                                           unsigned generations, layout_id layout = layout_id::blocked,
                                           hasher hash = hasher());

    // Of one generation.
    const posy::geometry& geometry() const { return ring_.front().geometry(); }
    // The hasher that makes this filter's digests.
    hasher hash() const { return ring_.front().hash(); }
    unsigned generations() const { return static_cast<unsigned>(ring_.size() - 1); }
    std::uint64_t slot() const { return slot_; }
    // A key is remembered for at least this long, and for less than the other.
    std::uint64_t remembered_at_least() const { return slot_ * generations(); }
    std::uint64_t forgotten_after() const { return slot_ * ring_.size(); }

    // The key, or keys, at this time; a key that is there already is remembered anew. False when that time is
    // forgotten already, and then nothing has changed.
    bool insert(digest d, std::uint64_t time) { return insert(std::span(&d, 1), time); }
    bool insert(std::span<const digest> digests, std::uint64_t time);

    bool may_contain(digest d, std::uint64_t time) const;
    // One answer a digest; how many were yes. Precondition: the spans are of one length.
    std::size_t may_contain(std::span<const digest> digests, std::uint64_t time,
                            std::span<bool> answers) const;

    // The probability that a key that was never inserted is answered with yes at that time, from these very
    // bits.
    double false_positive_rate(std::uint64_t time) const;
    // Insertions that are remembered at that time, repeated keys counted again.
    std::uint64_t items(std::uint64_t time) const;

    // into := into ∪ from: what either has seen, slot by slot; the clock is that of the later one. The shapes
    // and slots must be equal, and both must have been told the same time: slots begin at the multiples of
    // their length.
    friend result<void> unite(window_filter& into, const window_filter& from);

    // The bytes of docs/growing.md; hash family and seed travel outside of them. parse() takes no more memory
    // than max_bytes and answers with a valid filter or an error with an offset.
    void append_to(std::vector<std::byte>& out) const;
    static result<window_filter> parse(hasher hash, byte_view payload, std::uint64_t max_bytes);

  private:
    window_filter(std::uint64_t slot, std::vector<bloom_filter> ring) : slot_(slot), ring_(std::move(ring)) {}
    bloom_filter& of(std::uint64_t number) { return ring_[number % ring_.size()]; }
    const bloom_filter& of(std::uint64_t number) const { return ring_[number % ring_.size()]; }
    void advance(std::uint64_t number);
    template <class Use>
    void each_remembered(std::uint64_t time, Use use) const;

    std::uint64_t slot_;
    std::vector<bloom_filter> ring_;  // slot i is at i mod (g + 1)
    std::uint64_t newest_ = 0;        // the number of the latest slot
};

}  // namespace posy
