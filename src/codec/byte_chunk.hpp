// A chunk: some bytes of one model, coded on their own, so that chunks can be coded on several cores and
// streamed.
//
//     chunk = states words side
//
// states: for each lane 4 bits e, then the 16 + e bits of its state below the leading one; low bits first,
// then zeros up to a whole byte. words: those of the interleaved coder (rans_kernels.hpp), 16 bits each.
// side: words of the side stream (side_stream.hpp), those that found no room in the lanes' initial states.
//
// A state has to begin somewhere in 2^16..2^32; beginning at 2^16 + w it carries a word w of the side stream
// at a cost of half a bit. Lanes that the side stream does not reach begin at 2^17. So a lane costs about 4
// bits all in all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "byte_model.hpp"
#include "posy/bytes.hpp"
#include "rans_kernels.hpp"
#include "side_stream.hpp"

namespace posy::codec {

// 64 lanes cost 32 bytes per chunk; 4 lanes cost 2 and are slow. The expected size of the coded chunk
// decides.
inline constexpr unsigned few_lanes = 4;
inline constexpr unsigned lanes_for(std::uint64_t coded_bytes) {
    return coded_bytes < 1 << 16 ? few_lanes : many_lanes;
}

// The parts of a coder that depend on the model only; one for all chunks and threads.
class byte_coder {
  public:
    byte_coder(const byte_model& model, unsigned lanes, base::instruction_set);

    // Memory that grows to twice a chunk and is reused for the next one; one per thread.
    struct scratch {
        std::vector<std::uint16_t> side;
        std::unique_ptr<std::uint8_t[]> memory;
        std::size_t size = 0;
        std::uint8_t* at_least(std::size_t bytes);
    };

    // Appends the chunk to `out`.
    void encode(std::span<const std::uint8_t> bytes, std::vector<std::byte>& out, scratch&) const;
    // Null, or what is wrong with the chunk.
    const char* decode(byte_view chunk, std::span<std::uint8_t> bytes, scratch&) const;

  private:
    byte_model model_;
    rans_tables tables_;
    side_decoder side_;
    rans_kernel kernel_;
    unsigned lanes_;
    base::instruction_set instructions_;
};

}  // namespace posy::codec
