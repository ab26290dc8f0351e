// The counters of a sketch: 32 bits each, in the memory of a bit array, which its owner keeps.
//
// A cell that would pass 2^32 − 1 stops there and sticks: nothing wraps, and nothing is subtracted from it
// again, because its true value is no longer known. A key is counted at several cells at once, in one of two
// ways: plainly, or conservatively (Estan and Varghese 2002), which touches only what it must.
//
// A view: a pointer and a size. Thread safety: none; const calls may run together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/saturate.hpp"
#include "posy/bit_array.hpp"
#include "posy/count_min.hpp"

namespace posy::sketch {

inline constexpr std::uint32_t largest = count_min::largest;
inline constexpr std::uint64_t max_cells = count_min::max_counters;

// Memory for this many cells, all zero. An error when it cannot be allocated.
result<bit_array> make_cells(std::uint64_t size);

// Byte is std::byte, or const std::byte for cells that are only read.
template <class Byte>
class basic_cells {
  public:
    template <class Memory>
    explicit basic_cells(Memory& memory)
        : first_(reinterpret_cast<Byte*>(memory.words().data())), size_(memory.size() / 32) {}

    std::uint64_t size() const { return size_; }
    std::uint32_t operator[](std::uint64_t i) const {
        std::uint32_t value;
        std::memcpy(&value, first_ + 4 * i, sizeof value);
        return value;
    }
    void set(std::uint64_t i, std::uint32_t value) const {
        std::memcpy(first_ + 4 * i, &value, sizeof value);
    }

    // The cells of one key, at(0) … at(count − 1), all different: the least of them; and to count the key,
    // after which this is the least.
    template <class At>
    std::uint32_t least(unsigned count, At at) const {
        std::uint32_t found = largest;
        for (unsigned i = 0; i < count; ++i) found = std::min(found, (*this)[at(i)]);
        return found;
    }
    template <class At>
    std::uint32_t add(unsigned count, At at, std::uint32_t weight) const {
        std::uint32_t found = largest;
        for (unsigned i = 0; i < count; ++i) {
            const std::uint32_t value = saturating_sum((*this)[at(i)], weight);
            set(at(i), value);
            found = std::min(found, value);
        }
        return found;
    }
    template <class At>
    std::uint32_t raise(unsigned count, At at, std::uint32_t weight) const {
        const std::uint32_t to = saturating_sum(least(count, at), weight);
        for (unsigned i = 0; i < count; ++i) set(at(i), std::max((*this)[at(i)], to));
        return to;
    }
    template <class At>
    std::uint32_t count(update_rule rule, unsigned count, At at, std::uint32_t weight) const {
        return rule == update_rule::plain ? add(count, at, weight) : raise(count, at, weight);
    }

  private:
    Byte* first_;
    std::uint64_t size_;
};

using cells = basic_cells<std::byte>;
using const_cells = basic_cells<const std::byte>;

// Cell by cell. Precondition: the sizes are equal.
void add_cells(bit_array& into, const bit_array& from);

}  // namespace posy::sketch
