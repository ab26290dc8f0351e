// The ones of a filter's array where most arrays are nearly empty: a node of a tree has a hundred objects and
// its root a million, in arrays of one size, so that they can be united.
//
// Few ones are kept as a table of positions, 5 bytes for each of its slots; more than one in 64 as bits. A
// test, a flip or a count costs O(1). The checksum is the exclusive or of a hash of every position: it needs
// no pass over the array. Positions are below 2^32 − 1.
//
// The tables hash under a salt that is handed in, so that strangers who choose positions cannot choose those
// of one slot. Thread safety: none; const calls may run together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace posy::overlay {

using position = std::uint32_t;

// The numbers at positions, where most are 0.
template <class Count>
class position_counts {
  public:
    explicit position_counts(std::uint64_t salt = 0) : salt_(salt) {}

    Count at(position p) const {
        if (keys_.empty()) return 0;
        const std::size_t slot = find(p);
        return keys_[slot] == p ? counts_[slot] : Count{0};
    }
    // To change it; 0 if it is new. The reference lasts until the next call.
    Count& operator[](position p) {
        if ((used_ + 1) * 4 > keys_.size() * 3) rebuild();
        const std::size_t slot = find(p);
        if (keys_[slot] == none) keys_[slot] = p, ++used_;
        return counts_[slot];
    }
    // use(position, count) for each that is not 0, in no order.
    template <class Use>
    void each(const Use& use) const {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            if (counts_[i] != 0) use(keys_[i], counts_[i]);
        }
    }
    void clear() { keys_.clear(), counts_.clear(), used_ = 0; }
    std::size_t memory() const { return keys_.size() * (sizeof(position) + sizeof(Count)); }

  private:
    static constexpr position none = ~position{0};

    std::size_t find(position p) const {
        const std::size_t mask = keys_.size() - 1;
        std::size_t slot = ((p ^ salt_) * 0x9e3779b97f4a7c15 ^ salt_ >> 32) >> shift_;
        while (keys_[slot] != none && keys_[slot] != p) slot = (slot + 1) & mask;
        return slot;
    }
    // Leaves out what has become 0, and makes room for as many again.
    void rebuild() {
        std::vector<position> keys;
        std::vector<Count> counts;
        keys.swap(keys_), counts.swap(counts_);
        std::size_t left = 0;
        for (const Count c : counts) left += c != 0;
        const std::size_t slots = std::bit_ceil(std::max<std::size_t>(8, left * 2 + 1));
        keys_.assign(slots, none), counts_.assign(slots, Count{0});
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots));
        used_ = left;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (counts[i] == 0) continue;
            const std::size_t slot = find(keys[i]);
            keys_[slot] = keys[i], counts_[slot] = counts[i];
        }
    }

    std::vector<position> keys_;  // as many as a power of two
    std::vector<Count> counts_;
    std::size_t used_ = 0;
    std::uint64_t salt_;
    unsigned shift_ = 0;
};

class one_set {
  public:
    explicit one_set(std::uint64_t bits, std::uint64_t salt = 0) : bits_(bits), sparse_(salt) {}

    bool test(position p) const {
        return words_.empty() ? sparse_.at(p) != 0 : (words_[p / 64] >> p % 64 & 1) != 0;
    }
    // Whether it is a one now.
    bool flip(position);
    void clear();

    std::uint64_t bits() const { return bits_; }
    std::uint64_t ones() const { return ones_; }
    std::uint32_t checksum() const { return checksum_; }
    std::vector<position> sorted() const;
    std::size_t memory() const { return words_.size() * 8 + sparse_.memory(); }

    // What a position adds to the checksum of a set.
    static std::uint32_t check(position);

  private:
    void spread_out();  // from positions to bits

    std::uint64_t bits_, ones_ = 0;
    std::uint32_t checksum_ = 0;
    position_counts<std::uint8_t> sparse_;
    std::vector<std::uint64_t> words_;  // empty while sparse
};

}  // namespace posy::overlay
