// The static coder: the number of ones first, then every bit with the same probability.
//
// With x known, a bit is a 1 with probability x / m. That costs m H(x/m), about a byte above log2 C(m, x),
// and the count itself two or three bytes: the smallest message for a filter of a few kilobytes, and nothing
// to divide in the loop. Bits are coded one after the other, at about fifty megabytes of array per second.
// For large arrays there are bytes.cpp and gaps.cpp; choose.hpp has the largest array that a reader accepts
// here.
#include <algorithm>
#include <bit>

#include "base/varint.hpp"
#include "binary_coder.hpp"
#include "byte_array.hpp"
#include "codec.hpp"

namespace posy::codec {
namespace {

// P(0) in 2^32, kept away from 0 and 1.
std::uint64_t zero_probability(std::uint64_t bits, std::uint64_t ones) {
    // 2^40 bits at most: shift so that the product fits.
    const unsigned shift = bits >> 31 == 0 ? 32 : 22;
    const std::uint64_t share = ((bits - ones) << shift) / bits << (32 - shift);
    return share == 0 ? 1 : share > 0xffffffff ? 0xffffffff : share;
}

error damaged(std::size_t at) { return error::damaged("the coded bits are damaged", at); }

}  // namespace

void encode_range(bit_view in, std::vector<std::byte>& out) {
    base::put_varint(out, in.ones);
    if (in.ones == 0 || in.ones == in.bits) return;
    const std::uint64_t zero = zero_probability(in.bits, in.ones);
    binary_encoder coder(out);
    for (std::uint64_t i = 0; i < in.bits; ++i) coder.put(in.words[i / 64] >> i % 64 & 1, zero);
    coder.finish();
}

result<void> decode_range(byte_view in, bit_room out) {
    const std::size_t size = in.size();
    const auto ones = base::take_varint(in);
    if (!ones || *ones > out.bits) return damaged(0);
    if (*ones == 0 || *ones == out.bits) {
        if (!in.empty()) return damaged(size);
        if (*ones == 0) return {};
        std::ranges::fill(out.words, ~std::uint64_t{0});
        out.words.back() = tail_mask(out.bits);
        return {};
    }
    const std::uint64_t zero = zero_probability(out.bits, *ones);
    binary_decoder coder(in);
    std::uint64_t seen = 0;
    for (std::size_t w = 0; w < out.words.size(); ++w) {
        std::uint64_t word = 0;
        const std::uint64_t here = std::min<std::uint64_t>(64, out.bits - w * 64);
        for (unsigned i = 0; i < here; ++i) word |= std::uint64_t{coder.get(zero)} << i;
        out.words[w] = word;
        seen += static_cast<unsigned>(std::popcount(word));
    }
    if (seen != *ones || !coder.ended_well()) return damaged(size);
    return {};
}

}  // namespace posy::codec
