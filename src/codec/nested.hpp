// An array of bits inside a larger payload: the codec's number (a byte), the length of the coding (a varint),
// the coding. The codec is the one that choose() selects, or raw (little-endian words) if that is smaller. A
// payload may have thousands of these: the time to read one is in proportion to its bytes and to the memory
// that it takes.
#pragma once

#include <vector>

#include "base/reader.hpp"
#include "posy/bit_array.hpp"

namespace posy::codec {

void append_bits(const bit_array& bits, std::vector<std::byte>& out);

// Reads an array of `bits` bits, if its memory is at most `max_bytes`. An error is also recorded in `in`.
result<bit_array> take_bits(base::reader& in, std::uint64_t bits, std::uint64_t max_bytes);

}  // namespace posy::codec
