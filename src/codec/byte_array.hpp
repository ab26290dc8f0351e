// A whole array of one model as chunks (byte_chunk.hpp):
//
//     chunk | (size chunk)*    one chunk takes the rest; several come with their sizes, varints
//
// The array's bytes are those of its words, low first, up to the last that has a bit of the array. How large
// chunks are and how many lanes the coder has follow from the size and from a guess at the coded size that
// both ends make.
#pragma once

#include "base/how.hpp"
#include "byte_model.hpp"
#include "codec.hpp"

namespace posy::codec {

struct byte_array_form {
    byte_model model;
    std::uint64_t bits;
    bool complement;            // code the array's complement
    std::uint64_t coded_bytes;  // a guess, the same at both ends
};

void encode_byte_array(const byte_array_form&, std::span<const std::uint64_t> words,
                       std::vector<std::byte>& out, const base::how&);
// Offsets in errors count from `start`.
result<void> decode_byte_array(const byte_array_form&, byte_view coded, std::span<std::uint64_t> words,
                               std::uint64_t start, const base::how&);

// The bits of the last word that belong to an array.
constexpr std::uint64_t tail_mask(std::uint64_t bits) {
    return bits % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits % 64) - 1;
}

}  // namespace posy::codec
