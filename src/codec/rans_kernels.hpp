// Interleaved rANS over bytes: the inner loops, in three instruction sets that give the same bytes.
//
// rANS (Duda 2009; the interleaving after Giesen 2014) keeps what it has coded in one number, the state x. A
// symbol with f of the 4096 slots, from `start` on, is put on it by
//
//     x ← ⌊x/f⌋ · 4096 + start + x mod f                       (x grows by log2(4096/f) bits)
//
// and taken off again by reading the slot, x mod 4096, finding the symbol that owns it, and
//
//     x ← f · ⌊x/4096⌋ + slot − start.
//
// Three things surprise at first. The decoder sees the symbols last in, first out: so the encoder starts at
// the end of the bytes and writes its words downwards in memory. Before a symbol would push x over 2^32, the
// encoder writes the low 16 bits as a word and drops them; the decoder, whenever x falls below 2^16, takes
// one word back, at exactly the same moments. And many states can share one stream of words, as long as
// encoder and decoder take turns in the same order: that is the basis of the SIMD versions.
//
// The order of turns: with `lanes` states, the bytes fall into blocks of 2·lanes. Lane j owns bytes 2j and
// 2j+1 of each block. First every lane decodes its even byte, lane 0 first, then every lane its odd byte.
// (Even and odd because a vector of 16-bit numbers turns into bytes that way without moving anything.) The
// last block may be short.
//
// Cost: 12-bit shares on a state of at least 16 bits lose less than 0.006 % to the uneven ends of the
// interval.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/how.hpp"
#include "byte_model.hpp"

namespace posy::codec {

inline constexpr unsigned many_lanes = 64;
inline constexpr std::uint32_t state_floor = 1u << 16;

// What the loops look up, derived from the model.
struct rans_tables {
    explicit rans_tables(const byte_model&);

    // By byte: the multiplier of the frequency's reciprocal; and start | (4096 − f) << 12 | shift << 24.
    alignas(64) std::array<std::uint32_t, 256> multiplier, step;
    // By slot: f | (slot − start) << 12 | byte << 24.
    alignas(64) std::array<std::uint32_t, slots> owner;
    std::optional<std::array<std::uint16_t, 9>> by_ones;  // as in the model
};

// Encodes all bytes from block `first_block` on, last to first. Words go below `cursor`, at most one per
// byte.
void encode_scalar(const rans_tables&, const std::uint8_t* bytes, std::size_t size, std::size_t first_block,
                   unsigned lanes, std::uint32_t* states, std::byte*& cursor);
// Decodes all bytes from block `first_block` on. False if the words from `cursor` to `end` do not suffice.
bool decode_scalar(const rans_tables&, std::uint8_t* bytes, std::size_t size, std::size_t first_block,
                   unsigned lanes, std::uint32_t* states, const std::byte*& cursor, const std::byte* end);

// The same for whole blocks of many_lanes lanes, from block 0 on. An encoder may overwrite the 64 bytes below
// its output. A decoder stops when fewer words are left than a block may take, and says how many blocks it
// did.
using block_encoder = void(const rans_tables&, const std::uint8_t* bytes, std::size_t blocks,
                           std::uint32_t* states, std::byte*& cursor);
using block_decoder = std::size_t(const rans_tables&, std::uint8_t* bytes, std::size_t blocks,
                                  std::uint32_t* states, const std::byte*& cursor, const std::byte* end);
struct rans_kernel {
    block_encoder* encode;
    block_decoder* decode;
};
rans_kernel rans_kernel_for(base::instruction_set, const rans_tables&);

#if defined(__x86_64__)
// By table, any model.
block_encoder encode_avx2, encode_avx512;
block_decoder decode_avx2, decode_avx512;
// Models by number of ones: no gathers, and the decoder has 32 states per vector.
block_encoder encode_by_ones_avx512;
block_decoder decode_by_ones_avx512;
#endif

}  // namespace posy::codec
