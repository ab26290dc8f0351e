// blocked: all bits of a key in one 512-bit line (Putze, Sanders and Singler 2007): one cache miss a lookup.
//
//   line = ⌊low · lines / 2^64⌋, and in it the positions of layout/dealt_line.hpp
//
// The loads of the lines differ, so the rate is a mixture over them and not the classic formula:
// theory::blocked_rate.
#pragma once

#include "layout/dealt_line.hpp"
#include "layout/probe.hpp"
#include "posy/geometry.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

// What blocked and narrow share: lines of 8 words of WordBits.
template <unsigned WordBits>
class one_line {
  public:
    using line = dealt_line<WordBits>;
    static constexpr unsigned max_hashes = line::max_hashes;
    static constexpr unsigned hash_step = 1;
    static constexpr std::uint64_t granule(unsigned) { return line::bits; }
    static constexpr std::uint64_t fold_unit = line::bits;

    explicit one_line(const geometry& g) : lines_(g.bits / line::bits), hashes_(g.hashes) {}

    template <class Visit>
    bool positions(digest d, Visit visit) const {
        const std::uint64_t start = scale(d.low, lines_) * line::bits;
        return line::positions(d, hashes_, [&](std::uint64_t position) { return visit(start + position); });
    }
    template <class Visit>
    void lines(digest d, Visit visit) const {
        visit(scale(d.low, lines_) * line::bits);
    }
    double rate_now(std::span<const std::uint64_t> words) const {
        return line::rate_now(words, lines_, hashes_);
    }
    group_shape groups() const { return line::groups(lines_, hashes_); }

    static double expected_rate(double items, double bits, unsigned hashes) {
        return theory::blocked_rate(items, bits, hashes, WordBits);
    }
    static double counter_tail(unsigned j, double items, double bits, unsigned hashes) {
        return theory::blocked_counter_tail(j, items, bits, hashes, WordBits);
    }
    static double overflow(unsigned j, double items, double bits, unsigned hashes) {
        return theory::blocked_overflow_probability(j, items, bits, hashes, WordBits);
    }

  private:
    std::uint64_t lines_;
    unsigned hashes_;
};

class blocked : public one_line<64> {
  public:
    using one_line::one_line;
    static constexpr layout_id id = layout_id::blocked;
    static constexpr std::string_view name = "blocked";
};

}  // namespace posy::layouts
