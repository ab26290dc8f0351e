// A band of equations in echelon form: at most one row starts at each unknown, so the system is solved by
// going backwards once.
//
// A new row is reduced by the rows that already start where it does, until it starts where none does, or
// vanishes: then it says nothing new (fine) or a contradiction. Rows once stored are never changed, so those
// stored last can be taken back. Cost: some 20 steps per row at 4 % overload, each waiting for the one
// before.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sealed/kernels.hpp"

namespace posy::sealed {

// What a row's unknowns add up to, one bit per column.
template <std::size_t words>
using right_side = std::array<std::uint64_t, words>;

template <std::size_t words>
class band {
  public:
    static constexpr std::uint32_t no_slot = ~std::uint32_t{0}, contradiction = no_slot - 1;

    // No rows. Unknowns in whole blocks; windows must end inside.
    void reset(std::uint64_t blocks) {
        coefficients_.assign(blocks * 64, 0);
        right_.assign(blocks * 64, {});
    }

    // Where the row was stored, or no_slot if it follows from others, or contradiction.
    // Precondition: `coefficients` is odd: the row starts at `slot`.
    std::uint32_t insert(std::uint32_t slot, std::uint64_t coefficients, right_side<words> right) {
        for (;;) {
            const std::uint64_t other = coefficients_[slot];
            if (other == 0) {
                coefficients_[slot] = coefficients;
                right_[slot] = right;
                return slot;
            }
            coefficients ^= other;
            for (std::size_t w = 0; w < words; ++w) right[w] ^= right_[slot][w];
            if (coefficients == 0) return right == right_side<words>{} ? no_slot : contradiction;
            const auto shift = static_cast<unsigned>(std::countr_zero(coefficients));
            coefficients >>= shift;
            slot += shift;
        }
    }
    // Takes back what insert() stored there, provided that nothing stored after it remains.
    void remove(std::uint32_t slot) {
        if (slot == no_slot) return;
        coefficients_[slot] = 0;
        right_[slot] = {};
    }

    // Calls take(block, states) for every block, last first, with the words of its columns, of which
    // columns_of(block) are solved. Never fewer columns in a later block.
    template <class ColumnsOf, class Take>
    void solve(const kernels& k, const ColumnsOf& columns_of, const Take& take) const {
        std::array<std::uint64_t, 64 * words + 64> states{};
        for (std::uint64_t b = coefficients_.size() / 64; b-- > 0;) {
            k.substitute(&coefficients_[64 * b], right_[64 * b].data(), words, columns_of(b), states.data());
            take(b, states.data());
        }
    }

  private:
    std::vector<std::uint64_t> coefficients_;
    std::vector<right_side<words>> right_;
};

}  // namespace posy::sealed
