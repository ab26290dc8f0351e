// The fast codec: the bytes of the array through interleaved rANS, with probabilities from the density alone.
//
//     coding = ones          varint; nothing else if no bit is set or all are
//              byte array    byte_array.hpp
//
// A byte with c ones has the probability p^c (1−p)^(8−c) (byte_model.hpp), so the count of ones is all the
// table that travels. Where more than half of the bits are set, the complement is coded.
//
// Over log2 C(m,x) it costs 0.01 to 0.02 % in large arrays, of which chunks and lanes are 0.006, the rest is
// rounding of probabilities and states; and about 8 bytes in small ones.
#include "bytes.hpp"

#include <algorithm>
#include <bit>

#include "base/varint.hpp"
#include "bits/word_kernels.hpp"
#include "byte_array.hpp"

namespace posy::codec {
namespace {

byte_array_form form_of(std::uint64_t ones, std::uint64_t bits) {
    const bool complement = ones > bits - ones;
    const std::uint64_t rare = complement ? bits - ones : ones;
    // x · ⌈log2(m/x)⌉ bits is near enough what it will take.
    const std::uint64_t coded = rare / 8 * static_cast<unsigned>(std::bit_width(bits / rare));
    return {model_of_density(rare, bits), bits, complement, coded};
}

}  // namespace

void encode_bytes(bit_view view, std::vector<std::byte>& out, const base::how& run) {
    base::put_varint(out, view.ones);
    if (view.ones == 0 || view.ones == view.bits) return;
    encode_byte_array(form_of(view.ones, view.bits), view.words, out, run);
}

result<void> decode_bytes(byte_view coded, bit_room room, const base::how& run) {
    const std::size_t size = coded.size();
    const auto ones = base::take_varint(coded);
    if (!ones) return error::damaged("the count of ones is cut off or not a number", 0);
    if (*ones > room.bits) return error::damaged("more ones than bits", 0);
    if (*ones == 0 || *ones == room.bits) {
        if (!coded.empty()) return error::damaged("bytes left over", size - coded.size());
        if (*ones == 0) return {};
        std::ranges::fill(room.words, ~std::uint64_t{0});
        room.words.back() = tail_mask(room.bits);
        return {};
    }
    auto done = decode_byte_array(form_of(*ones, room.bits), coded, room.words, size - coded.size(), run);
    if (done && bits::count_ones(room.words, run.instructions) != *ones)
        return error::damaged("not as many ones as announced", 0);
    return done;
}

void encode_bytes(bit_view view, std::vector<std::byte>& out) { encode_bytes(view, out, base::how{}); }
result<void> decode_bytes(byte_view coded, bit_room room) { return decode_bytes(coded, room, base::how{}); }

}  // namespace posy::codec
