// How many different items there are, by the bits that are set: linear counting (Whang, Vander-Zanden and
// Taylor, 1990) of arrays that hold different items.
//
// With n items of k places in m bits, λ = nk/m, the share of zeros is about exp(-λ), so that n is about -m/k
// ln(zeros/m), with the variance m/k² · (exp(λ) - 1 - λ). Where an item's places are in one of b blocks, the
// blocks have different numbers of items, and that adds to it.
#pragma once

#include <cstdint>

#include "posy/estimate.hpp"

namespace posy::foreign {

class item_count {
  public:
    // `places` that an item takes on average, and `blocks` of the array, if they are all in one.
    void add(std::uint64_t bits, double places, std::uint64_t ones, std::uint64_t blocks = 0);
    // At 95 %.
    estimate items() const;

  private:
    double items_ = 0, variance_ = 0;
    std::uint64_t ones_ = 0;
};

}  // namespace posy::foreign
