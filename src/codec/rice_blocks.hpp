// A bit array as Rice codes that can be asked for single bits: within 2 % of log2 C(m, x), in about 100 ns.
//
// The gaps between the ones of a random array are geometric, and Rice's code for such a gap, a quotient in
// unary and r bits of remainder, is near their entropy: 1.1 % above it at (14, 2) and 0.3 % at (92, 1), 4.2 %
// at the worst density, 0.38. It has to be read from the start, though: where a one lies is the sum of all
// gaps before it. Two things make that fast. The array is cut into blocks of 2^b positions, each coded by
// itself, with a directory of where they start. And inside a block all unary parts stand together, and so do
// the lowest bits of all remainders, the next bits, and so on: r planes of one bit per gap. Then a sum of
// many gaps is a few popcounts, for up to any unary bit
//
//     Σ (gap + 1) = zeros · 2^r + ones + Σ_j 2^j · (ones among the first `ones` bits of plane j)
//
// so that 56 unary bits, about 25 gaps, are passed over at once, and the last 56 are halved by the same
// formula.
//
//   b            u8        6 to 40: log2 of the positions in a block; the last block may be short
//   r            u8        0 to 40: remainder bits; 0 needs b so large that there is one block
//   width        u8        0 to 41: bits of a count
//   ones         varint    x, the ones of the array
//   least        varint    the ones of the emptiest block
//   payload      varint    its size in bits
//   offsets      line_table.hpp: the bit in the payload where each block starts
//   counts       for each block its ones less `least`, in `width` bits
//   payload      block by block, without padding:
//
//                | plane 0 | plane 1 | … | plane r−1 | unary: quotient zeros and a one, a gap each |
//                  n bits    n bits        n bits      up to the next block
//
//   slack        8 zero bytes, so that a reader can always load 64 bits
//
// Counts and payload are packed bits (packed_bits.hpp), each filled up with zeros to a whole byte. A gap is
// the zeros before a one, counted from the one before it or from the start of the block; the zeros after the
// last one are not coded. With r = 0 the unary parts are the bits themselves, and a lookup is one load: that
// is how arrays denser than 0.38 are sent.
//
// For example 100 bits of which 3, 17, 18, 41 and 77 are set: gaps 3, 13, 0, 22, 35; r = 4, so quotients 0,
// 0, 0, 1, 2 and remainders 3, 13, 0, 6, 3; planes (first gap first) 11001, 10011, 01010, 01000; unary 1 1 1
// 01 001:
//
//   07 04 00 | 05 05 1c | 0b 00 00 00 00 38 | 33 2b 71 09 | 00 00 00 00 00 00 00 00
//
// r is the best for the density (rice_blocks.cpp); b gives 640 to 1,280 ones per block, where offset and
// count, about 20 bits, are less than half a percent. Over log2 C(m, x), and nanoseconds for a random bit
// (bench/queryable_bench.cpp, Zen 4):
//
//                   (14, 2)            (92, 1)
//   n = 10,000      +1.8 %    86 ns    +1.0 %   115 ns
//   n = 10 million  +1.5 %   116 ns    +0.8 %   145 ns      raw array 7 and 9 ns
//
//   blocks half as large: +1.9 %, 84 ns and +1.1 %, 114 ns; an eighth of that: +6.6 %, 73 ns and +4.9 %, 98
//   ns. The last search in 56 bits is most of the rest, so when time matters more than that, elias_fano.hpp
//   is the form.
//
// Not done: a code better than Rice's (Golomb's with divisors that are no powers of two has no planes).
//
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/codec.hpp"
#include "codec/line_table.hpp"

namespace posy::codec {

// Precondition: 1 to 2^40 bits.
std::vector<std::byte> encode_rice_blocks(bit_view);

// A view of coded bytes that answers for single bits. Cheap to copy; the bytes must outlive it.
class rice_blocks {
  public:
    // Checks the header and every entry of the directory (about a hundredth of the bytes are read), and takes
    // no memory. After that every query is safe: a damaged payload gives wrong answers, but never a read
    // outside the bytes or more than one pass over them, even if the bytes change afterwards.
    static result<rice_blocks> open(byte_view bytes, std::uint64_t bits,
                                    base::instruction_set = base::best_instruction_set());

    // Precondition of both: position < bits.
    bool test(std::uint64_t position) const { return lookup_(*this, position); }
    // Asks for the memory that test(position) will read. The directory is read to know where that is.
    void prefetch(std::uint64_t position) const;

    std::uint64_t ones() const { return ones_; }

    // The whole array, every bit of the coding checked: an error unless it is what an encoder can have
    // written.
    result<void> unpack(bit_room) const;

  private:
    // A block in the payload: `remainder_bits` planes of `ones` bits from `first` on, then the unary parts.
    struct block {
        std::uint64_t first;
        std::uint64_t ones;
    };
    struct kernels;
    using lookup = bool(const rice_blocks&, std::uint64_t position);

    rice_blocks() = default;
    static lookup* lookup_for(unsigned remainder_bits, base::instruction_set);
    block find(std::uint64_t number) const;
    bool fits(block) const;
    const char* fault_of_directory() const;
    std::uint64_t end_of(std::uint64_t number) const;  // one past the block's last position

    line_table offsets_;
    const std::byte* counts_ = nullptr;
    const std::byte* payload_ = nullptr;
    std::uint64_t payload_bits_ = 0;
    std::uint64_t least_ = 0;  // ones in the emptiest block
    lookup* lookup_ = nullptr;
    std::uint8_t block_log2_ = 0, remainder_bits_ = 0, ones_width_ = 0;

    std::uint64_t bits_ = 0;
    std::uint64_t blocks_ = 0;
    std::uint64_t ones_ = 0;
};

}  // namespace posy::codec
