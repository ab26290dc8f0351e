// The Bloom filter: a set in a few bits per item. It may say yes to a key that was never inserted, and never
// says no to one that was.
//
// It sees digests, not keys: hash a key once with hash(), then ask any number of filters. Insert and query
// are visitors of the same positions.
//
// Thread safety: const calls from many threads; insert_concurrently() from many threads, together with itself
// and with may_contain(); any other change needs exclusion.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>

#include "posy/base/wide.hpp"
#include "posy/bit_array.hpp"
#include "posy/geometry.hpp"
#include "posy/provenance.hpp"

namespace posy {

namespace kernels {
struct filter_kernel;
}

class bloom_filter {
  public:
    // Empty. An error when the geometry is impossible or its memory cannot be allocated.
    static result<bloom_filter> make(const geometry&);
    // A filter of bits that came from elsewhere; `items` as in items(). Precondition: check(g), and the array
    // has g.bits bits.
    static bloom_filter from_bits(const geometry& g, bit_array bits, std::optional<std::uint64_t> items);

    const posy::geometry& geometry() const { return geometry_; }
    // The hasher that makes this filter's digests.
    hasher hash() const { return hasher(geometry_.hash, geometry_.seed); }

    void insert(digest);
    bool may_contain(digest d) const { return look_up_one_(bits_.words().data(), geometry_, d.low, d.high); }

    // Batches of digests, or of keys, which are hashed by hash() first. Memory is prefetched, so a key costs
    // a fraction of a single call once the array outgrows the caches. may_contain() writes one answer per key
    // and returns how many were yes. Precondition: the two spans have the same length.
    void insert(std::span<const digest>);
    void insert(std::span<const std::uint64_t>);
    void insert(std::span<const std::string_view>);
    std::size_t may_contain(std::span<const digest>, std::span<bool> answers) const;
    std::size_t may_contain(std::span<const std::uint64_t>, std::span<bool> answers) const;
    std::size_t may_contain(std::span<const std::string_view>, std::span<bool> answers) const;
    void insert_concurrently(std::span<const digest>);

    // The number of insertions, repeated keys counted again; nothing when it is unknown (an intersection).
    // estimate_items() estimates the number of different keys. Not to be called during insert_concurrently().
    std::optional<std::uint64_t> items() const {
        const auto& had = provenance_.items;
        return had ? std::optional(inserted_ > max_items - *had ? max_items : *had + inserted_)
                   : std::nullopt;
    }
    // The same, whether the bits are an intersection's, and what the filter was planned for.
    posy::provenance provenance() const { return {items(), provenance_.intersection, provenance_.planned}; }
    // Precondition: planned->valid(), if there is one.
    void set_planned(std::optional<promise> planned) {
        assert(!planned || planned->valid());
        provenance_.planned = planned;
    }

    std::uint64_t ones() const { return bits_.ones(); }
    double fill() const { return static_cast<double>(ones()) / static_cast<double>(geometry_.bits); }
    // The probability that a key that was never inserted is answered with yes, computed from the actual bits.
    // For an intersection, this is a key of none of the sets.
    double false_positive_rate() const;

    void clear();
    result<bloom_filter> clone() const;
    const bit_array& bits() const { return bits_; }

    // For code that builds on the filter. A caller that changes the bits is responsible for their meaning.
    bit_array& bits() { return bits_; }
    void set_items(std::optional<std::uint64_t> items) {
        inserted_ = 0;
        provenance_.items = items ? std::min(*items, max_items) : items;
        if (items) provenance_.intersection = false;
    }
    void set_provenance(const posy::provenance& p) {
        assert(!(p.intersection && p.items));
        provenance_.intersection = p.intersection;
        set_items(p.items);
        set_planned(p.planned);
    }

    void count_insertions(std::uint64_t inserted) { inserted_ += inserted; }
    // One less, and never fewer than 0.
    void count_removal() {
        if (inserted_ != 0) {
            --inserted_;
        } else if (provenance_.items && *provenance_.items != 0) {
            --*provenance_.items;
        }
    }

    // Counts saturate here: the format reserves two of the values that 64 bits can hold.
    static constexpr std::uint64_t max_items = ~std::uint64_t{0} - 2;

    // Equal geometry and equal bits; the provenance is bookkeeping and may differ.
    friend bool operator==(const bloom_filter& a, const bloom_filter& b) {
        return a.geometry_ == b.geometry_ && a.bits_ == b.bits_;
    }

  private:
    bloom_filter(const posy::geometry& g, bit_array bits, const posy::provenance&);
    template <class Keys>
    void insert_keys(const Keys&);
    template <class Keys>
    std::size_t look_up(const Keys&, std::span<bool> answers) const;

    posy::geometry geometry_;
    bit_array bits_;
    posy::provenance provenance_;
    base::apart64 inserted_ = 0;            // to be added to its items
    const kernels::filter_kernel* kernel_;  // for this layout on this machine, and its
    bool (*look_up_one_)(const std::uint64_t* words, const posy::geometry&, std::uint64_t low,
                         std::uint64_t high);
};

}  // namespace posy
