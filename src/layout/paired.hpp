// paired: half of a key's bits in a 512-bit line of the array's lower half, half of them in one of its upper
// half: two cache misses, and nearly the rate of the classic filter, because a key falls to an overloaded
// line only with half of its bits.
//
//   line 1 : ⌊low · lines/2 / 2^64⌋, positions from high
//   line 2 : lines/2 + ⌊low' · lines/2 / 2^64⌋, positions from high', where
//            low' = (low + high) · 0x9e3779b97f4a7c15 and high' = low · 0x9e3779b97f4a7c15
//
// and in each line the positions of layout/dealt_line.hpp for k/2 hashes; k is even. A half is a blocked
// filter of its own, and what a key does in one half says nothing of what it does in the other: the positions
// in line 1 use up high, those in line 2 come from low, of which line 1 used the few top bits; and either is
// free where the sum of both is given. So the rate is the product of two blocked ones, exactly. (A high' made
// of high alone ties the lines to each other: 18 % more false positives in 1,024 bits with k = 16.)
#pragma once

#include "layout/dealt_line.hpp"
#include "layout/probe.hpp"
#include "posy/geometry.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

class paired {
  public:
    using line = dealt_line<64>;
    static constexpr layout_id id = layout_id::paired;
    static constexpr std::string_view name = "paired";
    static constexpr unsigned max_hashes = 16;
    static constexpr unsigned hash_step = 2;
    static constexpr std::uint64_t granule(unsigned) { return 2 * line::bits; }
    static constexpr std::uint64_t fold_unit = line::bits;

    explicit paired(const geometry& g) : half_(g.bits / line::bits / 2), hashes_(g.hashes / 2) {}

    // The digest that rules the second line.
    static constexpr digest second(digest d) {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
        return {(d.low + d.high) * odd, d.low * odd};
    }

    template <class Visit>
    bool positions(digest d, Visit visit) const {
        std::uint64_t start = scale(d.low, half_) * line::bits;
        const auto in_line = [&](std::uint64_t position) { return visit(start + position); };
        if (!line::positions(d, hashes_, in_line)) return false;
        const digest other = second(d);
        start = (half_ + scale(other.low, half_)) * line::bits;
        return line::positions(other, hashes_, in_line);
    }
    template <class Visit>
    void lines(digest d, Visit visit) const {
        visit(scale(d.low, half_) * line::bits);
        visit((half_ + scale(second(d).low, half_)) * line::bits);
    }
    double rate_now(std::span<const std::uint64_t> words) const {
        const std::size_t middle = words.size() / 2;
        return line::rate_now(words.first(middle), half_, hashes_) *
               line::rate_now(words.subspan(middle), half_, hashes_);
    }
    group_shape groups() const {
        group_shape shape = line::groups(half_, hashes_);
        shape.parts = 2;
        return shape;
    }

    static double expected_rate(double items, double bits, unsigned hashes) {
        const double half = theory::blocked_rate(items, bits / 2, hashes / 2);
        return half * half;
    }
    static double counter_tail(unsigned j, double items, double bits, unsigned hashes) {
        return theory::blocked_counter_tail(j, items, bits / 2, hashes / 2);
    }
    static double overflow(unsigned j, double items, double bits, unsigned hashes) {
        const double half = theory::blocked_overflow_probability(j, items, bits / 2, hashes / 2);
        return half * (2 - half);
    }

  private:
    std::uint64_t half_;  // lines in a half of the array
    unsigned hashes_;     // of a key in either line
};

}  // namespace posy::layouts
