// Gaps between ones through rANS.
//
// When each bit is set with probability p, the number of zeros before the next one is geometric: P(g) = p
// (1−p)^g. A geometric distribution is memoryless: given that g ≥ K, g − K is distributed like g. So the
// table can be short, with "K or more" as its last symbol, after which the same table is used again; this
// loses nothing.
//
// A gap of a sparse array is cut in two: h = ⌊g/2^s⌋ is geometric again and goes by the table; the s bits
// below are nearly uniform and go as they are. Nearly: that costs (p·2^s)²/24 nats per gap, and s is chosen
// with p·2^s in 1/32..1/16, so less than 0.00024 bits of about 9.
//
// The state is 64 bits, the words 32, the shares 12 bits: rounding costs less than 0.002 %.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::codec {

class gap_coder {
  public:
    // Precondition: 0 < ones < bits.
    gap_coder(std::uint64_t ones, std::uint64_t bits);

    // Room for the gaps of a chunk and for words; one per thread.
    struct scratch {
        std::vector<std::uint64_t> gaps;
        std::vector<std::uint32_t> words;
    };

    // The bits from..to (from a multiple of 64) of the array, of which `ones` are set. Empty if none is.
    void encode(std::span<const std::uint64_t> words, std::uint64_t from, std::uint64_t to,
                std::uint64_t ones, std::vector<std::byte>& out, scratch&) const;
    // Null, or what is wrong with the chunk.
    const char* decode(byte_view chunk, std::span<std::uint64_t> words, std::uint64_t from, std::uint64_t to,
                       std::uint64_t ones) const;

  private:
    void put(std::uint64_t& x, std::uint64_t gap, std::vector<std::uint32_t>& words) const;
    template <class Refill>
    bool take(std::uint64_t& x, std::uint64_t& gap, std::uint64_t limit, const Refill&) const;

    unsigned low_bits_, more_bits_;  // s is their sum; the second is 0 unless gaps are beyond 2^24
    unsigned last_;                  // K
    std::array<std::uint16_t, 257> start_{};
    std::array<std::uint32_t, 4096> owner_{};  // by slot: f | (slot − start) << 12 | symbol << 24
};

}  // namespace posy::codec
