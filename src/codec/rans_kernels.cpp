#include "rans_kernels.hpp"

#include <algorithm>

#include "posy/bytes.hpp"
#include "reciprocal.hpp"

namespace posy::codec {

rans_tables::rans_tables(const byte_model& model) : by_ones(model.by_ones) {
    owner.fill(0);
    for (unsigned b = 0; b < 256; ++b) {
        const std::uint32_t f = model.frequency[b], start = model.start[b];
        const auto [inverse, shift] = reciprocal_of(std::max(f, 2u));
        multiplier[b] = inverse;
        step[b] = start | (slots - f) << 12 | shift << 24;
        if (model.escaped[b] && b != model.marker) continue;
        for (std::uint32_t i = 0; i < f; ++i) owner[start + i] = f | i << 12 | b << 24;
    }
}

// Most of this is the order of the turns; the coder itself is a few lines in the middle. Whether a word is
// due is unpredictable for a processor: so a word is always stored or loaded, and the cursor moves or does
// not.
void encode_scalar(const rans_tables& tables, const std::uint8_t* bytes, std::size_t size,
                   std::size_t first_block, unsigned lanes, std::uint32_t* states, std::byte*& cursor) {
    const std::size_t block_size = 2 * lanes;
    std::byte* to = cursor;
    for (std::size_t block = (size + block_size - 1) / block_size; block-- > first_block;) {
        const std::size_t from = block * block_size, length = std::min(block_size, size - from);
        for (const std::size_t odd : {1u, 0u}) {
            for (std::size_t j = (length + 1 - odd) / 2; j-- > 0;) {
                const std::uint8_t byte = bytes[from + 2 * j + odd];
                const std::uint32_t step = tables.step[byte], rest = step >> 12 & 0xfff;  // 4096 − f
                std::uint32_t x = states[j];
                const unsigned full = x >> 20 >= slots - rest;
                store_little(to - 2, static_cast<std::uint16_t>(x));
                to -= 2 * full;
                x >>= 16 * full;
                const auto quotient = static_cast<std::uint32_t>(std::uint64_t{x} * tables.multiplier[byte] >>
                                                                 (32 + (step >> 24)));
                states[j] =
                    x + quotient * rest + (step & 0xfff);  // ⌊x/f⌋·4096 + x mod f is x + ⌊x/f⌋·(4096 − f)
            }
        }
    }
    cursor = to;
}

bool decode_scalar(const rans_tables& tables, std::uint8_t* bytes, std::size_t size, std::size_t first_block,
                   unsigned lanes, std::uint32_t* states, const std::byte*& cursor, const std::byte* end) {
    const std::size_t block_size = 2 * lanes;
    const std::byte* at = cursor;
    const auto take = [&tables](std::uint32_t x, std::uint8_t& byte) {
        const std::uint32_t owner = tables.owner[x % slots];
        byte = static_cast<std::uint8_t>(owner >> 24);
        return (owner & 0xfff) * (x >> slot_bits) + (owner >> 12 & 0xfff);
    };
    for (std::size_t from = first_block * block_size; from < size; from += block_size) {
        const std::size_t length = std::min(block_size, size - from);
        const bool plenty = static_cast<std::size_t>(end - at) >= 2 * block_size;  // a word for every byte
        for (const std::size_t odd : {0u, 1u}) {
            const std::size_t turns = (length + 1 - odd) / 2;
            std::uint8_t* const to = bytes + from + odd;
            for (std::size_t j = 0; plenty && j < turns; ++j) {
                const std::uint32_t x = take(states[j], to[2 * j]);
                const unsigned low = x < state_floor;
                states[j] = x << 16 * low | (load_little<std::uint16_t>(at) & (0u - low));
                at += 2 * low;
            }
            for (std::size_t j = 0; !plenty && j < turns; ++j) {
                std::uint32_t& x = states[j];
                x = take(x, to[2 * j]);
                if (x >= state_floor) continue;
                if (end - at < 2) return false;
                x = x << 16 | load_little<std::uint16_t>(at);
                at += 2;
            }
        }
    }
    cursor = at;
    return true;
}

namespace {

void encode_blocks(const rans_tables& tables, const std::uint8_t* bytes, std::size_t blocks,
                   std::uint32_t* states, std::byte*& cursor) {
    encode_scalar(tables, bytes, blocks * 2 * many_lanes, 0, many_lanes, states, cursor);
}

// Decodes nothing; the caller continues with decode_scalar.
std::size_t decode_no_blocks(const rans_tables&, std::uint8_t*, std::size_t, std::uint32_t*,
                             const std::byte*&, const std::byte*) {
    return 0;
}

}  // namespace

rans_kernel rans_kernel_for(base::instruction_set set, [[maybe_unused]] const rans_tables& tables) {
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512)
        return tables.by_ones ? rans_kernel{encode_by_ones_avx512, decode_by_ones_avx512}
                              : rans_kernel{encode_avx512, decode_avx512};
    if (set == base::instruction_set::avx2) return {encode_avx2, decode_avx2};
#endif
    return {encode_blocks, decode_no_blocks};
}

}  // namespace posy::codec
