// The counters of a sketch: 32 bits each, in one piece of memory.
//
// A cell that would pass 2^32 − 1 stops there and sticks: nothing wraps, and nothing is taken from it again,
// because nobody knows any more how much it stands for. A key is counted at several cells at once, in one of
// two ways: plainly, or conservatively (Estan and Varghese 2002), which touches only what it must.
//
// Thread safety: none; const calls may run together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "posy/base/saturate.hpp"
#include "posy/bit_array.hpp"

namespace posy {

// The numbers are on the wire.
enum class update_rule : std::uint8_t {
    plain = 1,         // every cell of the key grows by the weight
    conservative = 2,  // no cell of the key grows beyond the least of them plus the weight
};
constexpr std::string_view name_of(update_rule rule) {
    return rule == update_rule::plain ? "plain" : "conservative";
}

class cell_array {
  public:
    static constexpr std::uint32_t largest = 0xffffffff;
    static constexpr std::uint64_t max_size = std::uint64_t{1} << 32;  // so a sum of cells fits 64 bits

    // All zero. An error when the memory cannot be had.
    static result<cell_array> make(std::uint64_t size);
    result<cell_array> clone() const;

    std::uint64_t size() const { return memory_.size() / 32; }
    std::uint64_t bytes() const { return 4 * size(); }

    std::uint32_t operator[](std::uint64_t i) const { return load(first(), i); }
    void set(std::uint64_t i, std::uint32_t value) { store(first(), i, value); }

    // The cells of one key, at(0) … at(count − 1), all different: the least of them; and to count the key,
    // after which this is the least.
    template <class At>
    std::uint32_t least(unsigned count, At at) const {
        const std::byte* const cells = first();
        std::uint32_t found = largest;
        for (unsigned i = 0; i < count; ++i) found = std::min(found, load(cells, at(i)));
        return found;
    }
    template <class At>
    std::uint32_t add(unsigned count, At at, std::uint32_t weight) {
        std::byte* const cells = first();
        std::uint32_t found = largest;
        for (unsigned i = 0; i < count; ++i) {
            const std::uint32_t value = saturating_sum(load(cells, at(i)), weight);
            store(cells, at(i), value);
            found = std::min(found, value);
        }
        return found;
    }
    template <class At>
    std::uint32_t raise(unsigned count, At at, std::uint32_t weight) {
        std::byte* const cells = first();
        const std::uint32_t to = saturating_sum(least(count, at), weight);
        for (unsigned i = 0; i < count; ++i) store(cells, at(i), std::max(load(cells, at(i)), to));
        return to;
    }
    template <class At>
    std::uint32_t count(update_rule rule, unsigned count, At at, std::uint32_t weight) {
        return rule == update_rule::plain ? add(count, at, weight) : raise(count, at, weight);
    }

    // Cell by cell. Precondition: the sizes are equal.
    void merge(const cell_array& from);
    void clear() { memory_.clear(); }

    friend bool operator==(const cell_array&, const cell_array&) = default;

  private:
    explicit cell_array(bit_array memory) : memory_(std::move(memory)) {}
    // Bytes, so that words and cells may look at the same memory. A store to them might change anything, as
    // far as a compiler can see: who has a loop fetches the pointer before it.
    std::byte* first() { return std::as_writable_bytes(memory_.words()).data(); }
    const std::byte* first() const { return std::as_bytes(memory_.words()).data(); }
    static std::uint32_t load(const std::byte* cells, std::uint64_t i) {
        std::uint32_t value;
        std::memcpy(&value, cells + 4 * i, sizeof value);
        return value;
    }
    static void store(std::byte* cells, std::uint64_t i, std::uint32_t value) {
        std::memcpy(cells + 4 * i, &value, sizeof value);
    }

    bit_array memory_;
};

}  // namespace posy
