// A key as a linear equation over GF(2): 64 neighbouring unknowns, a random half of them, add up to what the
// key stands for (Dillinger and Walzer 2021, "Ribbon filter").
//
// A digest is first turned into a row of two 64-bit words, both random functions of all its bits:
//
//   place     its high part says where the window of 64 unknowns starts, its low bits are the fingerprint;
//             they are independent as long as log2(starts) + fingerprint bits stay below 64
//   pattern   the coefficients; the first unknown of the window always has coefficient 1
//
// Rows are mixed even though digests are random already: multiply-shift digests are linear in the key, which
// would break a linear system; and a system without a solution is tried again with another `tweak`. Each step
// below is a bijection, so equal rows are equal digests.
//
// The mixing is the format. Cost: five multiplications per row.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

#include "base/mix.hpp"
#include "posy/base/wide.hpp"
#include "posy/digest.hpp"

namespace posy::sealed {

struct row {
    std::uint64_t place = 0;
    std::uint64_t pattern = 0;
    friend auto operator<=>(const row&, const row&) = default;  // NOLINT(modernize-use-nullptr)
};

// A row that carries what its key maps to.
struct valued_row : row {
    std::uint64_t value = 0;
    friend auto operator<=>(const valued_row&, const valued_row&) = default;  // NOLINT(modernize-use-nullptr)
};

constexpr std::uint64_t value_of(const row&) { return 0; }
constexpr std::uint64_t value_of(const valued_row& r) { return r.value; }

// The tweak changes the multiplier and not just an offset: two digests that fall together for one tweak do
// not do so for the next.
constexpr row next_row(std::uint64_t low, std::uint64_t high, std::uint64_t tweak) {
    const std::uint64_t place = base::mix(low + high * (0x9e3779b97f4a7c15 + 2 * tweak) + tweak);
    return {place, base::mix(high ^ place)};
}
constexpr row first_row(digest d) { return next_row(d.low, d.high, 0); }
constexpr void advance(row& r, std::uint64_t tweak = 0) { r = next_row(r.place, r.pattern, tweak); }

// Where a window starts among `chunks` runs of `starts` places each; grows with row.place, so rows sorted by
// place are sorted by start.
struct start_point {
    std::uint64_t chunk;
    std::uint64_t start;
};
inline start_point start_of(std::uint64_t place, std::uint64_t chunks, std::uint64_t starts) {
    const base::u128 scaled = base::u128{place} * chunks;
    return {static_cast<std::uint64_t>(scaled >> 64),
            base::scale(static_cast<std::uint64_t>(scaled), starts)};
}

}  // namespace posy::sealed
