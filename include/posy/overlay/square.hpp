// A square region divided in four, recursively (Hsiao 2001; Broder & Mitzenmacher 2004, 6.3): the squares,
// and which of them lie where.
//
// The smallest squares are the cells, level 0, and there is a station in each. A square of level i covers 2^i
// by 2^i cells, and its four quarters are squares of level i − 1. Its head is the station at its centre. A
// station is the head of one square above level 0 at most, so that no station carries all the traffic.
//
// Pure functions of small values.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "posy/overlay/mail.hpp"

namespace posy::overlay {

struct square {
    unsigned level = 0;
    std::uint32_t x = 0, y = 0;  // in squares of its level
    friend bool operator==(const square&, const square&) = default;
};

// At most 2^32 cells.
inline constexpr unsigned most_levels = 16;

// A cell, and so its station, as a node of the overlay.
constexpr node_id node_of(square cell) { return node_id{cell.y} << most_levels | cell.x; }
constexpr square cell_of(node_id node) {
    return {0, static_cast<std::uint32_t>(node & ((1U << most_levels) - 1)),
            static_cast<std::uint32_t>(node >> most_levels)};
}

// Whether it lies in a field of 2^levels by 2^levels cells.
constexpr bool lies_in(square s, unsigned levels) {
    return s.level <= levels && s.x >> (levels - s.level) == 0 && s.y >> (levels - s.level) == 0;
}

// The square of that level, not below its own, in which it lies.
constexpr square around(square s, unsigned level) {
    return {level, s.x >> (level - s.level), s.y >> (level - s.level)};
}
constexpr bool contains(square outer, square inner) {
    return inner.level <= outer.level && around(inner, outer.level) == outer;
}

// The lowest level at which two cells lie in one square.
constexpr unsigned common_level(square a, square b) {
    return static_cast<unsigned>(std::bit_width((a.x ^ b.x) | (a.y ^ b.y)));
}

// Its quarters. Precondition: it is no cell.
constexpr std::array<square, 4> quarters(square s) {
    const unsigned level = s.level - 1;
    return {{{level, 2 * s.x, 2 * s.y},
             {level, 2 * s.x + 1, 2 * s.y},
             {level, 2 * s.x, 2 * s.y + 1},
             {level, 2 * s.x + 1, 2 * s.y + 1}}};
}
// The three other quarters of the square around it, in the order of quarters().
constexpr std::array<square, 3> siblings(square s) {
    std::array<square, 3> others{};
    std::ranges::copy_if(quarters(around(s, s.level + 1)), others.begin(),
                         [&](square quarter) { return quarter != s; });
    return others;
}

// The cell of its head: the one at its centre, above and to the right.
constexpr square head_of(square s) {
    if (s.level == 0) return s;
    const std::uint32_t half = 1U << (s.level - 1);
    return {0, (s.x << s.level) + half, (s.y << s.level) + half};
}
// The level of the square above level 0 whose head is in this cell; 0 if there is none in a field of that
// many levels.
constexpr unsigned level_headed(square cell, unsigned levels) {
    const int x = std::countr_zero(cell.x), y = std::countr_zero(cell.y);
    const auto level = static_cast<unsigned>(x) + 1;
    return x == y && level <= levels ? level : 0;
}

// In cells, along the streets: what a message from one to the other travels.
constexpr std::uint64_t distance(square a, square b) {
    const auto apart = [](std::uint32_t p, std::uint32_t q) { return p < q ? q - p : p - q; };
    return std::uint64_t{apart(a.x, b.x)} + apart(a.y, b.y);
}

}  // namespace posy::overlay
