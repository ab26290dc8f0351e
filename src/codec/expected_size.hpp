// How many bytes a coding will take, before there is anything to code: the entropy, and what each codec was
// measured to cost on top. Within a byte or two in small arrays, 0.03 % in large ones
// (tests/message/message_size_test.cpp).
#pragma once

#include <cstdint>
#include <span>

#include "posy/codec.hpp"

namespace posy::codec {

struct expected_coding {
    codec_id codec = codec_id::raw;  // raw where no coding is smaller than raw with its padding
    std::uint64_t bytes = 0;
};

// Of an array of `bits` bits with about `ones` ones.
expected_coding expect_bits(std::uint64_t bits, double ones, coding, std::uint64_t padding);

// Of `counters` counters of a width, where a share of shares[v] has the value v.
expected_coding expect_counters(std::uint64_t counters, unsigned width, std::span<const double> shares,
                                coding, std::uint64_t padding);

}  // namespace posy::codec
