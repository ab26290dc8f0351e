// From a codec's number to its functions, and the choice of one.
#pragma once

#include <optional>

#include "codec.hpp"
#include "posy/codec.hpp"

namespace posy::codec {

// The largest array that is coded bit by bit. That takes nanoseconds per bit, however few bytes it results
// in: no reader accepts a larger one, and no writer makes one. At 2^21 bits it is about 15 milliseconds.
inline constexpr std::uint64_t slow_array = std::uint64_t{1} << 21;

// What decoding may cost beyond what is in proportion to the bytes received. A message is allowed a few
// milliseconds. A part of a message, of which there may be thousands, is allowed next to nothing.
struct allowance {
    std::uint64_t slow_bits;   // of an array that is coded bit by bit
    std::uint64_t fast_bytes;  // of an array whose bytes are coded
    std::uint64_t ones;        // of an array whose gaps are coded
    bool small_tables;  // may a small array have the coder of bytes, whose tables take 100 µs to make?
};
inline constexpr allowance for_message{slow_array, 4 << 20, 1 << 16, true};
inline constexpr allowance for_part{1 << 10, 0, 64, false};

// Is the time to decode this in proportion to the bytes? Per byte of the coding 128 bits bit by bit, 128
// bytes of the array by the coder of bytes, 64 ones by gaps: a few times what the writer produces at the
// density where it changes codecs. So what a writer sends is always accepted, and decoding takes about half a
// millisecond per kilobyte. A reader asks before it decodes; a writer, before it sends.
result<void> check_work(codec_id, byte_view coded, std::uint64_t array_bits, const allowance&);

// The codec to try for these bits.
codec_id choose(bit_view, coding);

// Appends to `out` the coding that `want` or `asked` selects, and returns its codec. If that is not smaller
// than raw with its `padding`, or readers would not accept it, nothing is appended and the codec is raw.
codec_id encode_for_reader(bit_view bits, coding want, std::optional<codec_id> asked, const allowance&,
                           std::uint64_t padding, std::vector<std::byte>& out);

// Appends the coding of `bits`. Precondition of both: not raw, not counters.
void encode(codec_id, bit_view bits, std::vector<std::byte>& out);
result<void> decode(codec_id, byte_view in, bit_room out);

}  // namespace posy::codec
