// The counting filter of Summary Cache (Fan et al. 1998): a counter in place of every bit, so that keys can
// be removed. Besides the counters it keeps the plain 0/1 filter that is sent to others; its bits change
// exactly when a counter leaves 0 or returns to it.
//
// A counter that saturates sticks (posy/counter_array.hpp), so there are never false negatives. A key whose
// counters are not all high enough is certainly absent; removing it is refused and changes nothing. Removing
// a key that is absent but looks present cannot be detected and damages the filter, as in the papers. If you
// cannot guarantee that only inserted keys are removed, store the keys as well.
//
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/counter_array.hpp"
#include "posy/layout/inlined_counters.hpp"

namespace posy {

class counting_filter {
  public:
    // `counter_bits` is 4 or 8. The geometry is that of the projection: as many counters as it has bits.
    static result<counting_filter> make(const geometry&, unsigned counter_bits = 4);
    // Counters from elsewhere; the projection is computed. Precondition: check(g), and one counter per bit.
    static result<counting_filter> from_counters(const geometry& g, counter_array counters,
                                                 std::uint64_t items);

    const posy::geometry& geometry() const { return projection_.geometry(); }
    hasher hash() const { return projection_.hash(); }
    std::uint64_t items() const { return *projection_.items(); }
    // The same, and what the filter was planned for. Precondition of set_planned(): as bloom_filter's.
    posy::provenance provenance() const { return projection_.provenance(); }
    void set_planned(std::optional<promise> planned) { projection_.set_planned(planned); }

    void insert(digest d) {
        if (layouts::shifts_words && one_line_ && place_.insert(counter_words(), bit_words(), d)) [[likely]]
            return projection_.count_insertions(1);
        insert_one(d);
    }
    // False when the key is certainly absent; then nothing has changed.
    bool remove(digest d) {
        if (layouts::shifts_words && one_line_ && place_.remove(counter_words(), bit_words(), d)) [[likely]]
            return count_removal();
        return remove_one(d);
    }
    bool may_contain(digest d) const { return projection_.may_contain(d); }

    // Batches of digests, integers or text, as in bloom_filter. remove() writes whether each key was there,
    // and returns how many were. With layout narrow and counters of 4 bits, the counters of a key are one
    // cache line and these are the fast way.
    void insert(std::span<const digest> digests) { insert_keys(digests); }
    void insert(std::span<const std::uint64_t> keys) { insert_keys(keys); }
    void insert(std::span<const std::string_view> keys) { insert_keys(keys); }
    std::size_t remove(std::span<const digest> digests, std::span<bool> removed) {
        return remove_keys(digests, removed);
    }
    std::size_t remove(std::span<const std::uint64_t> keys, std::span<bool> removed) {
        return remove_keys(keys, removed);
    }
    std::size_t remove(std::span<const std::string_view> keys, std::span<bool> removed) {
        return remove_keys(keys, removed);
    }
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const {
        return projection_.may_contain(digests, answers);
    }
    std::size_t may_contain(std::span<const std::uint64_t> keys, std::span<bool> answers) const {
        return projection_.may_contain(keys, answers);
    }
    std::size_t may_contain(std::span<const std::string_view> keys, std::span<bool> answers) const {
        return projection_.may_contain(keys, answers);
    }

    // For a union of filters, each of which can be taken out again: one more of them has this bit, or one
    // less. The number of items stays. lower() of a counter at 0 changes nothing.
    void raise(std::uint64_t position);
    void lower(std::uint64_t position);

    // The plain filter of the keys now present.
    const bloom_filter& projection() const { return projection_; }
    const counter_array& counters() const { return counters_; }
    // The number of saturated counters. The bit of each will never be cleared again.
    std::uint64_t saturated() const { return counters_.saturated(); }

    // Starts to record which bits of the projection differ from what they are now. Costs one bit per counter
    // from the first call on.
    result<void> mark();
    // How many bits differ from the last mark; a bit that changed and changed back is not counted. 0 before
    // any mark.
    std::uint64_t flipped_count() const { return flipped_count_; }
    // Their positions, ascending.
    std::vector<std::uint64_t> flipped() const;
    // What may_contain() said at the last mark; before any, what it says now.
    bool contained_at_mark(digest) const;

    void clear();

  private:
    counting_filter(bloom_filter projection, counter_array counters)
        : projection_(std::move(projection)),
          counters_(std::move(counters)),
          place_(geometry()),
          one_line_(place_.fits(geometry(), counters_.width())) {}
    std::uint64_t* counter_words() { return counters_.cells().words().data(); }
    std::uint64_t* bit_words() { return projection_.bits().words().data(); }
    bool count_removal() {
        projection_.count_removal();
        return true;
    }
    void insert_one(digest);
    bool remove_one(digest);
    void flip_projected(std::uint64_t position);
    template <class Keys>
    void insert_keys(const Keys&);
    template <class Keys>
    std::size_t remove_keys(const Keys&, std::span<bool> removed);

    bloom_filter projection_;
    counter_array counters_;
    std::optional<bit_array> flipped_;
    std::uint64_t flipped_count_ = 0;
    layouts::inlined_counters place_;
    bool one_line_;  // a single key is inlined: its counters are one line, and no flips are recorded
};

}  // namespace posy
