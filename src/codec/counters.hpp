// The counters of a counting filter: packed cells in, few bytes out, and back.
//
// Same contract as codec.hpp's: encode appends; decode gets exactly the bytes of one coding and zeros of the
// right size, and returns an error or exactly the counters that were encoded.
#pragma once

#include "base/how.hpp"
#include "codec.hpp"

namespace posy::codec {

// Counter i is the i-th group of `width` bits, 4 or 8, lowest first; bits past the last counter are zero.
void encode_counters(std::span<const std::uint64_t> words, std::uint64_t counters, unsigned width,
                     std::vector<std::byte>& out, const base::how& = {});
result<void> decode_counters(byte_view, std::span<std::uint64_t> words, std::uint64_t counters,
                             unsigned width, const base::how& = {});

}  // namespace posy::codec
