// The entries of flows that passed the filter: a table with linear probing, twice as many slots as entries,
// 64 bytes each. Entries leave only when the table is rebuilt, so there are no gaps to probe across.
//
// Cost: one cache miss per lookup, mostly. Thread safety: none.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "posy/digest.hpp"
#include "posy/packet/flow_key.hpp"

namespace posy::packets {

struct flow_entry {
    flow_key key{};
    std::uint64_t before = 0;   // at most this much came before the entry
    std::uint64_t counted = 0;  // since then, exactly
    std::uint64_t earlier =
        0;  // in the interval before, if the entry is from then: by this it keeps its place

    bool used() const { return (counted | earlier) != 0; }
    std::uint64_t high() const { return before + counted; }
    std::uint64_t rank() const { return std::max(high(), earlier); }
};

class flow_memory {
  public:
    explicit flow_memory(std::uint64_t most)
        : most_(most), mask_(std::bit_ceil(2 * most) - 1), slots_(mask_ + 1) {}

    std::uint64_t most() const { return most_; }
    std::uint64_t size() const { return size_; }
    bool full() const { return size_ == most_; }

    flow_entry* find(const flow_key& key, digest d) {
        for (std::uint64_t i = d.low & mask_; slots_[i].used(); i = (i + 1) & mask_)
            if (slots_[i].key == key) return &slots_[i];
        return nullptr;
    }
    // Precondition: not full, the key is new, and the entry is used().
    void insert(const flow_entry& entry, digest d) {
        std::uint64_t i = d.low & mask_;
        while (slots_[i].used()) i = (i + 1) & mask_;
        slots_[i] = entry;
        ++size_;
    }
    std::vector<flow_entry> entries() const {
        std::vector<flow_entry> all;
        all.reserve(size_);
        for (const flow_entry& slot : slots_)
            if (slot.used()) all.push_back(slot);
        return all;
    }
    void clear() {
        slots_.assign(slots_.size(), {});
        size_ = 0;
    }

  private:
    std::uint64_t most_, mask_, size_ = 0;
    std::vector<flow_entry> slots_;
};

}  // namespace posy::packets
