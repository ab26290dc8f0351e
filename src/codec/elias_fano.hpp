// A bit array as Elias and Fano's split (Elias 1974, Fano 1971): a lookup of a bit takes 20 ns in the caches,
// and the size is a sixth above log2 C(m, x), or a fourteenth when the array is sparse.
//
// The position of a one is cut in two: its low l bits are stored as they are, and the rest names a bucket of
// 2^l positions. The highs say how many ones each bucket has: a one for each, then a zero that closes the
// bucket. So the ones of bucket h start after zero number h. Before them are h zeros and all earlier ones, so
// place − h is the rank of the bucket's first low. A lookup finds that zero and compares a few lows. To find
// it fast, a directory holds the number of ones before every 2^b-th bucket; popcounts do the rest.
//
//   l            u8        0 to 40: bits of a low; 0 says that the highs are the plain bits of the array
//   b            u8        0 to 40: log2 of the buckets in a block; 0 if l is
//   ones         varint    x
//   ranks        line_table.hpp: the ones before each block; absent if l is 0
//   highs        x ones and ⌈m / 2^l⌉ zeros
//   lows         x numbers of l bits
//   slack        8 zero bytes, so that a reader can always load 64 bits
//
// Highs and lows are packed bits (packed_bits.hpp), each filled up with zeros to a whole byte.
//
// For example 100 bits of which 3, 17, 18, 41 and 77 are set: l = 4, so 7 buckets with 1, 2, 1, 0, 1, 0, 0
// ones, highs 10 110 10 0 10 0 0, and lows 3, 1, 2, 9, 13:
//
//   04 03 05 | 09 00 00 00 80 02 | 2d 01 | 13 92 0d | 00 00 00 00 00 00 00 00
//
// l makes highs and lows smallest, or is 0 where that gains less than 1/32 of the plain bits (from a density
// of 0.24 on); b gives 80 to 160 ones per block. Over log2 C(m, x), and nanoseconds for a random bit
// (bench/queryable_bench.cpp, Zen 4):
//
//                   (14, 2)            (92, 1)
//   n = 10,000      +16.4 %   21 ns    +7.4 %   19 ns
//   n = 10 million  +16.4 %   46 ns    +7.3 %   34 ns      raw array 7 and 9 ns
//
// The extra size comes from storing the lows of a bucket with l bits each although they are sorted. Coding
// gaps avoids that, but gaps have to be added up: rice_blocks.hpp.
//
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/codec.hpp"
#include "codec/line_table.hpp"

namespace posy::codec {

// Precondition: 1 to 2^40 bits.
std::vector<std::byte> encode_elias_fano(bit_view);

// A view of coded bytes that answers for single bits. Cheap to copy; the bytes must outlive it.
class elias_fano {
  public:
    // Checks the header and every entry of the directory (one to two hundredths of the bytes are read), and
    // takes no memory. After that every query is safe: damaged bits give wrong answers, but never a read
    // outside the bytes or more than one pass over them, even if the bytes change afterwards.
    static result<elias_fano> open(byte_view bytes, std::uint64_t bits,
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
    struct kernels;
    using lookup = bool(const elias_fano&, std::uint64_t position);

    elias_fano() = default;
    static lookup* choose(unsigned low_bits, base::instruction_set);
    std::uint64_t buckets() const { return ((bits_ - 1) >> low_bits_) + 1; }

    line_table ranks_;  // ones before each block
    const std::byte* highs_ = nullptr;
    const std::byte* lows_ = nullptr;
    std::uint64_t highs_bits_ = 0;
    std::uint64_t each_low_ = 0;  // a one at the bottom of every field of a load of lows
    lookup* lookup_ = nullptr;
    std::uint8_t low_bits_ = 0, block_log2_ = 0, fields_ = 0;  // block_log2_ counts buckets

    std::uint64_t bits_ = 0;
    std::uint64_t ones_ = 0;
};

}  // namespace posy::codec
