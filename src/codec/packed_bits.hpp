// Numbers of a few bits side by side: bit i of a run of bytes is byte[i / 8] >> (i % 8), a number's lowest
// bit first. What the queryable forms are made of.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "base/how.hpp"
#include "posy/bytes.hpp"

namespace posy::codec {

// A number of up to this many bits lies within one 64-bit load, wherever it starts.
inline constexpr unsigned max_width = 57;

// This many zero bytes (or other bytes of the same coding) follow every run of packed bits, so that a 64-bit
// load at any number stays inside.
inline constexpr std::size_t load_slack = 8;

// The low `width` bits, width < 64.
[[gnu::always_inline]] constexpr std::uint64_t low_bits(std::uint64_t value, std::uint64_t width) {
    return value & ((std::uint64_t{1} << width) - 1);
}

// The bits from `at` on: at least 57 of them; higher bits are undefined.
[[gnu::always_inline]] inline std::uint64_t bits_at(const std::byte* bytes, std::uint64_t at) {
    return load_little<std::uint64_t>(bytes + at / 8) >> at % 8;
}

[[gnu::always_inline]] inline std::uint64_t number_at(const std::byte* bytes, std::uint64_t at,
                                                      unsigned width) {
    return low_bits(bits_at(bytes, at), width);
}

constexpr unsigned width_of(std::uint64_t value) { return static_cast<unsigned>(std::bit_width(value)); }

constexpr std::uint64_t bytes_of(std::uint64_t bits) { return (bits + 7) / 8; }

// Are the bits from `bits` to the end of the last byte zero?
inline bool ends_in_zeros(const std::byte* bytes, std::uint64_t bits) {
    return bits % 8 == 0 || std::to_integer<unsigned>(bytes[bits / 8]) >> bits % 8 == 0;
}

class bit_writer {
  public:
    explicit bit_writer(std::vector<std::byte>& to) : to_(to) {}

    // width <= 57
    void put(std::uint64_t value, unsigned width) {
        assert(width <= max_width && value >> width == 0);
        waiting_ |= value << held_;
        held_ += width;
        bits_ += width;
        for (; held_ >= 8; held_ -= 8, waiting_ >>= 8) to_.push_back(static_cast<std::byte>(waiting_));
    }
    void put_zeros(std::uint64_t count) {
        for (; count > max_width; count -= max_width) put(0, max_width);
        put(0, static_cast<unsigned>(count));
    }
    // Fills the last byte up with zeros.
    void finish() {
        if (held_ > 0) to_.push_back(static_cast<std::byte>(waiting_));
        waiting_ = held_ = 0;
    }
    std::uint64_t bits() const { return bits_; }

  private:
    std::vector<std::byte>& to_;
    std::uint64_t waiting_ = 0;
    unsigned held_ = 0;  // bits waiting, below 8 between calls
    std::uint64_t bits_ = 0;
};

// The instructions that lookups depend on. Without them the compiler calls a function for each popcount,
// which is portable and slow; so a lookup is compiled twice, and open() chooses.
#if defined(__x86_64__)
#define POSY_BMI2 [[gnu::target("popcnt,bmi,bmi2")]]
inline bool bmi2_among(base::instruction_set set) { return set != base::instruction_set::scalar; }
#else
#define POSY_BMI2
inline bool bmi2_among(base::instruction_set) { return false; }
#endif

// Calls visit(position) for every one of `words`, in order; `first` is the position of their first bit.
template <class Visit>
void each_one(std::span<const std::uint64_t> words, std::uint64_t first, Visit visit) {
    for (const std::uint64_t& word : words) {
        for (std::uint64_t rest = word; rest != 0; rest &= rest - 1) {
            visit(first + static_cast<unsigned>(std::countr_zero(rest)));
        }
        first += 64;
    }
}

}  // namespace posy::codec
