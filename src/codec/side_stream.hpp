// A slow and exact coder for the few bytes that the fast one escapes: rANS with one state of 32 to 48 bits
// and shares of 2^20, as 16-bit words.
//
// It wastes nothing at the start: the encoder begins with x = 1 and lets it grow; the decoder takes a word
// when x < 2^32 and there is one. Words were only ever written once x had passed 2^32, so both agree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "byte_model.hpp"

namespace posy::codec {

// The words in the order in which the decoder wants them: three of state, low first, then the others. No
// escaped bytes, no words.
inline void encode_side(const byte_model& model, std::span<const std::uint8_t> escaped,
                        std::vector<std::uint16_t>& words) {
    words.clear();
    if (escaped.empty()) return;
    std::uint64_t x = 1;
    for (std::size_t i = escaped.size(); i-- > 0;) {
        const std::uint64_t f = model.side_frequency[escaped[i]];
        for (; x >= f << 28; x >>= 16) words.push_back(static_cast<std::uint16_t>(x));
        x = (x / f << side_bits) + x % f + model.side_start[escaped[i]];
    }
    for (const unsigned shift : {32u, 16u, 0u}) words.push_back(static_cast<std::uint16_t>(x >> shift));
    std::ranges::reverse(words);
}

class side_decoder {
  public:
    explicit side_decoder(const byte_model& model) : model_(model) {
        // The first byte whose share reaches into each 1024th of 2^20.
        unsigned at = 0;
        std::vector<std::uint8_t> bytes;
        for (unsigned b = 0; b < 256; ++b)
            if (model.side_frequency[b] > 0) bytes.push_back(static_cast<std::uint8_t>(b));
        for (unsigned i = 0; i < first_.size(); ++i) {
            while (at + 1 < bytes.size() && end(bytes[at]) <= i << 10) ++at;
            first_[i] = bytes.empty() ? std::uint8_t{0} : bytes[at];
        }
    }

    // False if there are too few or too many words, or if they are invalid.
    bool decode(std::span<const std::uint16_t> words, std::span<std::uint8_t> escaped) const {
        if (escaped.empty()) return words.empty();
        if (words.size() < 3) return false;
        std::uint64_t x = words[0] | std::uint64_t{words[1]} << 16 | std::uint64_t{words[2]} << 32;
        if (words.size() > 3 && x < std::uint64_t{1} << 32) return false;  // words are written only above it
        std::size_t next = 3;
        for (std::uint8_t& byte : escaped) {
            const auto slot = static_cast<std::uint32_t>(x) % (1u << side_bits);
            unsigned b = first_[slot >> 10];
            while (b < 256 && slot >= end(b)) ++b;
            if (b == 256 || model_.side_frequency[b] == 0) return false;
            byte = static_cast<std::uint8_t>(b);
            x = model_.side_frequency[b] * (x >> side_bits) + slot - model_.side_start[b];
            while (x < std::uint64_t{1} << 32 && next < words.size()) x = x << 16 | words[next++];
        }
        return x == 1 && next == words.size();
    }

  private:
    std::uint32_t end(unsigned b) const { return model_.side_start[b] + model_.side_frequency[b]; }

    const byte_model& model_;
    std::array<std::uint8_t, 1024> first_{};
};

}  // namespace posy::codec
