// The adaptive coder of the paper (Mitzenmacher 2002, appendix): the reference.
//
// Two counts, C0 and C1, start at 1; the next bit is a 1 with probability C1 / (C0 + C1), and its count goes
// up. Nothing is sent beside the bits: whatever their order, m bits with x ones take log2 ((m + 1)! / (x! (m
// − x)!)) = log2 C(m, x) + log2 (m + 1) bits. One division per bit makes it slow: choose.hpp has the largest
// array that a reader accepts.
#include "binary_coder.hpp"
#include "codec.hpp"

namespace posy::codec {
namespace {

class counts {
  public:
    // P(0) in 2^32, never 0 and never 1: with m ≤ 2^40 the rarer count can fall below what 32 bits resolve.
    std::uint64_t zero() const {
        const std::uint64_t all = zeros_ + ones_;
        const auto share = all < std::uint64_t{1} << 32 ? (zeros_ << 32) / all : (zeros_ << 23) / (all >> 9);
        return share == 0 ? 1 : share > 0xffffffff ? 0xffffffff : share;
    }
    void add(bool bit) { bit ? ++ones_ : ++zeros_; }

  private:
    std::uint64_t zeros_ = 1, ones_ = 1;
};

}  // namespace

void encode_adaptive(bit_view in, std::vector<std::byte>& out) {
    counts model;
    binary_encoder coder(out);
    for (std::uint64_t i = 0; i < in.bits; ++i) {
        const bool bit = in.words[i / 64] >> i % 64 & 1;
        coder.put(bit, model.zero());
        model.add(bit);
    }
    coder.finish();
}

result<void> decode_adaptive(byte_view in, bit_room out) {
    counts model;
    binary_decoder coder(in);
    for (std::uint64_t i = 0; i < out.bits; ++i) {
        const bool bit = coder.get(model.zero());
        out.words[i / 64] |= std::uint64_t{bit} << i % 64;
        model.add(bit);
    }
    if (!coder.ended_well()) return error::damaged("the coded bits do not end where they should", in.size());
    return {};
}

}  // namespace posy::codec
