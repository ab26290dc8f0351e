// Small counters packed side by side: 4 bits (the paper's choice) or 8 bits each.
//
// A counter that reaches its largest value sticks there: from then on neither increment nor decrement changes
// it, because the number of increments is no longer known. This costs a few false positives and guarantees
// that there are no false negatives.
//
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>

#include "posy/bit_array.hpp"

namespace posy {

class counter_array {
  public:
    // Precondition: width is 4 or 8.
    static result<counter_array> make(std::uint64_t size, unsigned width);
    // Counters from packed cells that were read from elsewhere; recounts how many are saturated.
    static counter_array from_cells(bit_array cells, unsigned width);

    std::uint64_t size() const { return cells_.size() / width_; }
    unsigned width() const { return width_; }
    unsigned largest() const { return (1u << width_) - 1; }
    std::uint64_t saturated() const { return saturated_; }

    unsigned operator[](std::uint64_t i) const {
        const std::uint64_t at = i * width_;
        return static_cast<unsigned>(cells_.words()[at / 64] >> at % 64) & largest();
    }
    // Both return the value before. Precondition of decrement: it was not 0.
    unsigned increment(std::uint64_t i) {
        const unsigned before = (*this)[i];
        if (before == largest()) return before;
        saturated_ += before + 1 == largest();
        cells_.words()[i * width_ / 64] += one(i);
        return before;
    }
    unsigned decrement(std::uint64_t i) {
        const unsigned before = (*this)[i];
        if (before != largest()) cells_.words()[i * width_ / 64] -= one(i);
        return before;
    }

    void prefetch(std::uint64_t i) const { cells_.prefetch(i * width_); }
    void clear();
    const bit_array& cells() const { return cells_; }

    // For code that builds on the array. A caller that changes cells reports how many of them saturated.
    bit_array& cells() { return cells_; }
    void add_saturated(std::uint64_t more) { saturated_ += more; }

    friend bool operator==(const counter_array&, const counter_array&) = default;

  private:
    counter_array(bit_array cells, unsigned width) : cells_(std::move(cells)), width_(width) {}
    std::uint64_t one(std::uint64_t i) const { return std::uint64_t{1} << i * width_ % 64; }

    bit_array cells_;
    unsigned width_;
    std::uint64_t saturated_ = 0;
};

}  // namespace posy
