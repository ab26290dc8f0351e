// The sequence of 64-bit numbers that a digest stands for.
#pragma once

#include <cstdint>

#include "posy/base/wide.hpp"
#include "posy/digest.hpp"

namespace posy::layouts {

using base::scale;

// The i-th 64 random bits of a digest: x_0 = low, x_{i+1} = x_i·C + high.
//
// Plain double hashing is C = 1. Its probes are an arithmetic progression, so two keys that share two probes
// share many, and the measured rate lies above the formula. The excess vanishes as m grows (Kirsch and
// Mitzenmacher 2006), but at n = 100, m = 1000, k = 7 we measured 5 %, and at n = 346, m = 10,000, k = 20 the
// rate was 16 times the formula's. A large multiplier costs one instruction and destroys the progression: a
// difference δ between two keys' x_i becomes δ·C + Δhigh, and knowing two of them to be small says nothing of
// the third.
class probe_sequence {
  public:
    explicit probe_sequence(digest d) : state_(d.low), step_(d.high) {}
    std::uint64_t next() {
        const std::uint64_t random = state_;
        state_ = after(state_, step_);
        return random;
    }
    static std::uint64_t after(std::uint64_t random, std::uint64_t step) {
        return random * 0xd1342543de82ef95 + step;  // Steele and Vigna 2021: a multiplier of good spectrum
    }

  private:
    std::uint64_t state_;
    std::uint64_t step_;
};

}  // namespace posy::layouts
