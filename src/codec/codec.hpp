// What a codec is: an array of bits in, few bytes out, and back.
//
// A filter's bits are independent and equally likely to be set, to a very good approximation, so all that a
// coder can use is the number of ones. The minimum is log2 C(m, x) / 8 bytes for x ones in m bits; every
// codec here says how close it comes and how fast it is.
//
// Each codec is a file with two functions of these shapes. encode() appends to `out`. decode() gets exactly
// the bytes of one coding and an array of zeros of the right size; it checks every bound, rejects bytes that
// are missing or left over, and returns an error or exactly the bits that were encoded. Both are pure and
// thread-safe. The meaning of a coding never depends on the machine: integers only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

namespace posy::codec {

// Bits to encode. Bit i is words[i / 64] >> (i % 64); bits past the end are zero.
struct bit_view {
    std::span<const std::uint64_t> words;
    std::uint64_t bits = 0;
    std::uint64_t ones = 0;
};

// A place to decode into: zeros, ⌈bits / 64⌉ words.
struct bit_room {
    std::span<std::uint64_t> words;
    std::uint64_t bits = 0;
};

using encoder = void(bit_view, std::vector<std::byte>& out);
using decoder = result<void>(byte_view, bit_room);

encoder encode_adaptive;  // adaptive.cpp: the reference, no count sent
decoder decode_adaptive;
encoder encode_range;  // range.cpp: the smallest for small arrays
decoder decode_range;
encoder encode_bytes;  // bytes.cpp: fast, for large arrays
decoder decode_bytes;
encoder encode_gaps;  // gaps.cpp: sparse arrays
decoder decode_gaps;

}  // namespace posy::codec
