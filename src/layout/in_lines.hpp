// What the layouts in lines share: the array has one or two parts of equal size, a key has one line in each,
// and in it the positions of layout/dealt_line.hpp.
//
//   part p : line p·lines + ⌊low_p · lines / 2^64⌋, where lines are those of a part, and a part has k/parts
//            hashes; low_0 and high_0 are the digest's own,
//            low_1 = (low + high) · 0x9e3779b97f4a7c15 and high_1 = low · 0x9e3779b97f4a7c15
//
// What a key does in one part says nothing of what it does in the other: the positions in line 0 use up high,
// those in line 1 come from low, of which line 0 used the few top bits; and either is free where the sum of
// both is given. So the rate is the product over the parts, exactly. (A high_1 made of high alone ties the
// lines to each other: 18 % more false positives in 1,024 bits with k = 16.)
//
// Loads of the lines differ, so the rate of a part is a mixture over them and not the classic formula:
// theory::blocked_rate.
#pragma once

#include "layout/dealt_line.hpp"
#include "posy/geometry.hpp"
#include "posy/layout/probe.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

template <unsigned WordBits, unsigned Parts>
class in_lines {
  public:
    static_assert(Parts == 1 || Parts == 2);
    using line = dealt_line<WordBits>;
    static constexpr unsigned parts = Parts;
    static constexpr unsigned max_hashes = line::max_hashes;
    static constexpr unsigned hash_step = Parts;
    static constexpr std::uint64_t granule(unsigned) { return Parts * line::bits; }
    static constexpr std::uint64_t fold_unit = line::bits;

    explicit in_lines(const geometry& g) : lines_(g.bits / line::bits / Parts), hashes_(g.hashes / Parts) {}

    // The digest that rules a part, and the line it chooses there.
    static constexpr digest in_part(unsigned part, digest d) { return part == 0 ? d : in_second_line(d); }
    std::uint64_t line_of(unsigned part, digest of_part) const {
        return part * lines_ + scale(of_part.low, lines_);
    }
    // Of a part.
    std::uint64_t line_count() const { return lines_; }

    template <class Visit>
    bool positions(digest d, Visit visit) const {
        if (!positions_in(0, d, visit)) return false;
        if constexpr (Parts == 2) return positions_in(1, in_part(1, d), visit);
        return true;
    }
    template <class Visit>
    void lines(digest d, Visit visit) const {
        visit(line_of(0, d) * line::bits);
        if constexpr (Parts == 2) visit(line_of(1, in_part(1, d)) * line::bits);
    }

    double rate_now(std::span<const std::uint64_t> words) const {
        const std::size_t size = words.size() / Parts;
        double rate = 1;
        for (unsigned part = 0; part < Parts; ++part)
            rate *= line::rate_now(words.subspan(part * size, size), lines_, hashes_);
        return rate;
    }
    group_shape groups() const {
        group_shape shape = line::groups(lines_, hashes_);
        shape.parts = Parts;
        return shape;
    }
    static double expected_rate(double items, double bits, unsigned hashes) {
        const double of_part = theory::blocked_rate(items, bits / Parts, hashes / Parts, WordBits);
        return Parts == 1 ? of_part : of_part * of_part;
    }
    static double counter_tail(unsigned j, double items, double bits, unsigned hashes) {
        return theory::blocked_counter_tail(j, items, bits / Parts, hashes / Parts, WordBits);
    }
    static double overflow(unsigned j, double items, double bits, unsigned hashes) {
        const double of_part =
            theory::blocked_overflow_probability(j, items, bits / Parts, hashes / Parts, WordBits);
        return Parts == 1 ? of_part : of_part * (2 - of_part);
    }

  private:
    template <class Visit>
    bool positions_in(unsigned part, digest of_part, Visit& visit) const {
        const std::uint64_t start = line_of(part, of_part) * line::bits;
        return line::positions(of_part, hashes_, [&](std::uint64_t at) { return visit(start + at); });
    }

    std::uint64_t lines_;  // of a part
    unsigned hashes_;      // of a key in its line
};

// Is this one of them?
template <class Layout>
concept lined = requires {
    typename Layout::line;
};

}  // namespace posy::layouts
