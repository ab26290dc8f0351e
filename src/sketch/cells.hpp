// The counters of a sketch: 32 or 64 bits each, in the memory of a bit array, which its owner keeps.
//
// A cell that would pass its largest value stops there and sticks: nothing wraps, and nothing is subtracted
// from it again, because its true value is no longer known. A key is counted at several cells at once, in one
// of two ways: plainly, or conservatively (Estan and Varghese 2002), which touches only what it must.
//
// A view: a pointer and a size. Thread safety: none; const calls may run together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/saturate.hpp"
#include "posy/bit_array.hpp"
#include "posy/count_min.hpp"
#include "posy/counter_width.hpp"

namespace posy::sketch {

inline constexpr std::uint64_t max_cells = count_min::max_counters;

// Memory for this many cells, all zero. An error when it cannot be allocated.
result<bit_array> make_cells(std::uint64_t size, counter_width = counter_width::bits_32);

// Byte is std::byte, or const std::byte for cells that are only read; Value is what a cell holds.
template <class Byte, class Value>
class basic_cells {
  public:
    static constexpr Value largest = std::numeric_limits<Value>::max();

    template <class Memory>
    explicit basic_cells(Memory& memory)
        : first_(reinterpret_cast<Byte*>(memory.words().data())),
          size_(memory.size() / (8 * sizeof(Value))) {}

    std::uint64_t size() const { return size_; }
    Value operator[](std::uint64_t i) const {
        Value value;
        std::memcpy(&value, first_ + sizeof value * i, sizeof value);
        return value;
    }
    void set(std::uint64_t i, Value value) const {
        std::memcpy(first_ + sizeof value * i, &value, sizeof value);
    }

    // The cells of one key, at(0) … at(count − 1), all different: the least of them; and to count the key,
    // after which this is the least.
    template <class At>
    [[gnu::always_inline]] Value least(unsigned count, At at) const {
        Value found = largest;
        for (unsigned i = 0; i < count; ++i) found = std::min(found, (*this)[at(i)]);
        return found;
    }
    template <class At>
    [[gnu::always_inline]] Value add(unsigned count, At at, std::uint64_t weight) const {
        const Value more = held(weight);
        Value found = largest;
        for (unsigned i = 0; i < count; ++i) {
            const Value value = saturating_sum((*this)[at(i)], more);
            set(at(i), value);
            found = std::min(found, value);
        }
        return found;
    }
    template <class At>
    [[gnu::always_inline]] Value raise(unsigned count, At at, std::uint64_t weight) const {
        const Value to = saturating_sum(least(count, at), held(weight));
        for (unsigned i = 0; i < count; ++i) set(at(i), std::max((*this)[at(i)], to));
        return to;
    }
    template <class At>
    [[gnu::always_inline]] Value count(update_rule rule, unsigned count, At at, std::uint64_t weight) const {
        return rule == update_rule::plain ? add(count, at, weight) : raise(count, at, weight);
    }

  private:
    static Value held(std::uint64_t weight) {
        return static_cast<Value>(std::min<std::uint64_t>(weight, largest));
    }

    Byte* first_;
    std::uint64_t size_;
};

using cells = basic_cells<std::byte, std::uint32_t>;
using const_cells = basic_cells<const std::byte, std::uint32_t>;

// Calls use(cells) with the cells that are in the memory.
template <class Memory, class Use>
decltype(auto) with_cells(Memory& memory, counter_width width, Use use) {
    using byte = std::conditional_t<std::is_const_v<Memory>, const std::byte, std::byte>;
    if (width == counter_width::bits_64) return use(basic_cells<byte, std::uint64_t>(memory));
    return use(basic_cells<byte, std::uint32_t>(memory));
}

// Cell by cell. The cells become wider where a sum passes 32 bits, or `from` has wider ones. An error if
// there is no memory for that, or if one of 32 bits is stuck at its largest value, which says nothing in 64;
// then nothing has changed. Precondition: as many cells in both.
result<void> add_cells(bit_array& into, counter_width& width, const bit_array& from,
                       counter_width width_of_from);

}  // namespace posy::sketch
