// A sealed set in its bytes, ready for queries: what the sealed filter and the Bloomier map have in common.
//
// A lookup finds the layer that holds a key, if any does: the thresholds of the layers, a bit and a half per
// hundred keys, tell. Then it adds up the two neighbouring blocks that the key's window touches: 16 bytes per
// column in one run, so with 8 columns two or three cache lines that are fetched together. 4 % of the keys
// ask a second layer, 0.2 % a third.
//
// Thread safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "posy/digest.hpp"
#include "sealed/kernels.hpp"
#include "sealed/shape.hpp"

namespace posy::sealed {

class ribbon {
  public:
    // Checks all that a lookup relies on, in one pass over the thresholds. After that every query is safe:
    // wrong bits give wrong answers and nothing worse, even if the bytes change afterwards.
    static result<ribbon> open(std::shared_ptr<const void> keep_alive, byte_view payload,
                               base::instruction_set = base::best_instruction_set());

    byte_view bytes() const { return payload_; }
    std::uint64_t items() const { return header_.items; }
    unsigned value_bits() const { return header_.columns.value; }
    // The share of absent keys that are taken for members, computed from the actual thresholds.
    double rate() const { return rate_; }

    bool holds(digest d) const { return holds(locate(d)); }
    // The value of a member; an arbitrary value for a share of the absent keys.
    std::optional<std::uint64_t> find(digest d) const { return find(locate(d)); }

    // Calls use(i, answer) for every digest, in order, with memory fetched ahead.
    template <class Use>
    void each_held(std::span<const digest> digests, const Use& use) const {
        each(digests, [&](std::size_t i, const equation& e) { use(i, holds(e)); });
    }
    template <class Use>
    void each_found(std::span<const digest> digests, const Use& use) const {
        each(digests, [&](std::size_t i, const equation& e) { use(i, find(e)); });
    }

  private:
    // The two runs of words that hold a key's window, and what they should add up to.
    struct equation {
        const std::byte* first = nullptr;  // null: no layer has such a key
        const std::byte* second = nullptr;
        std::uint64_t low = 0, high = 0;
        std::uint64_t fingerprint = 0;
        unsigned fingerprint_bits = 0;
    };
    struct layer {
        layer_shape shape;
        const std::byte* thresholds;
        const std::byte* table;
    };
    // The number of digests with prefetches in flight.
    static constexpr std::size_t batch = 32;

    ribbon() = default;
    equation locate(digest d) const;
    bool holds(const equation& e) const;
    std::optional<std::uint64_t> find(const equation& e) const;
    double expected_rate() const;
    template <class Use>
    void each(std::span<const digest> digests, const Use& use) const;

    header header_;
    byte_view payload_;
    std::shared_ptr<const void> keep_alive_;
    std::vector<layer> layers_;
    std::vector<std::uint64_t> remainder_;  // its blocks, the columns of each in whole words
    kernels kernels_{};
    double rate_ = 0;
};

inline bool ribbon::holds(const equation& e) const {
    if (e.first == nullptr) return false;
    const std::uint64_t skip = 8 * header_.columns.value;
    const std::uint64_t sum =
        kernels_.add(e.first + skip, e.second + skip, e.low, e.high, e.fingerprint_bits);
    return sum == e.fingerprint;
}

inline std::optional<std::uint64_t> ribbon::find(const equation& e) const {
    if (!holds(e)) return std::nullopt;
    return kernels_.add(e.first, e.second, e.low, e.high, header_.columns.value);
}

template <class Use>
void ribbon::each(std::span<const digest> digests, const Use& use) const {
    std::array<equation, batch> waiting;
    for (std::size_t from = 0; from < digests.size(); from += batch) {
        const std::size_t count = std::min(batch, digests.size() - from);
        for (std::size_t i = 0; i < count; ++i) {
            waiting[i] = locate(digests[from + i]);
            const auto columns = static_cast<std::size_t>(waiting[i].second - waiting[i].first);
            for (std::size_t at = 0; at < 2 * columns; at += 64) __builtin_prefetch(waiting[i].first + at);
            __builtin_prefetch(waiting[i].first + 2 * columns);
        }
        for (std::size_t i = 0; i < count; ++i) use(from + i, waiting[i]);
    }
}

}  // namespace posy::sealed
