// The list that Mitzenmacher (2002) keeps in place of a large array: the positions of the ones, in order,
// each of ⌈log2 m⌉ bits. A lookup is an interpolation search: the positions are uniform, so the place of one
// is nearly known beforehand, to about √x / 2 of x places at the first look and a few at the third.
//
//   ones       varint    x
//   positions  x numbers of ⌈log2 m⌉ bits, packed (packed_bits.hpp), zeros to a whole byte
//   slack      8 zero bytes, so that a reader can always load 64 bits
//
// For example 1,000 bits of which 3, 500 and 999 are set:
//
//   03 | 03 d0 77 3e | 00 00 00 00 00 00 00 00        3 + 500·2^10 + 999·2^20 = 0x3e77d003
//
// It wastes log2(x) − 1.44 bits per one, since it also stores the order. That is a small part only when the
// array is so sparse that a position has many more bits than the count: a delta of a few changes, or a nearly
// empty filter. Bytes over log2 C(m, x), and time per lookup (bench/queryable_bench.cpp, Zen 4):
//
//                   (14, 2)                (92, 1)
//   n = 10,000      +324 %    33 ns        +151 %    31 ns
//   n = 10 million  +559 %   200–290 ns    +277 %   130–260 ns
//
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/codec.hpp"

namespace posy::codec {

// Precondition: 1 to 2^40 bits.
std::vector<std::byte> encode_position_list(bit_view);

// A view of coded bytes that answers for single bits. Cheap to copy; the bytes must outlive it.
class position_list {
  public:
    // Takes constant time and no memory. Positions that are out of order give wrong answers, and unpack()
    // says so; no read is outside the bytes, and no lookup takes more than about 2·log2(x) steps.
    static result<position_list> open(byte_view bytes, std::uint64_t bits);

    // Precondition of both: position < bits.
    bool test(std::uint64_t position) const;
    void prefetch(std::uint64_t position) const;  // where the first look goes

    std::uint64_t ones() const { return ones_; }
    result<void> unpack(bit_room) const;  // an error unless the positions grow and are below `bits`

  private:
    position_list() = default;
    std::uint64_t at(std::uint64_t i) const;
    std::uint64_t places(
        std::uint64_t distance) const;  // how many ones a stretch of the array has on average

    const std::byte* positions_ = nullptr;
    std::uint64_t ones_ = 0;
    std::uint64_t density_ = 0;  // ones / bits · 2^64
    std::uint64_t bits_ = 0;
    unsigned width_ = 0;
};

}  // namespace posy::codec
