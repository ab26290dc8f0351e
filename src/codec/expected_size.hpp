// How many bytes a coding will take, before there is anything to code: the entropy, and what each codec was
// measured to cost on top. Within a byte or two in small arrays, 0.03 % in large ones
// (tests/message/message_size_test.cpp).
#pragma once

#include <cstdint>
#include <span>

#include "posy/codec.hpp"

namespace posy::codec {

struct expected_coding {
    codec_id codec = codec_id::raw;  // raw where nothing is smaller than that with its padding
    std::uint64_t bytes = 0;
};

// Of an array of so many bits, of which about so many are ones.
expected_coding expect_bits(std::uint64_t bits, double ones, coding, std::uint64_t padding);

// Of so many counters of a width, where shares[v] of them have the value v.
expected_coding expect_counters(std::uint64_t counters, unsigned width, std::span<const double> shares,
                                coding, std::uint64_t padding);

}  // namespace posy::codec
