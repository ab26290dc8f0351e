#include "sketch/cells.hpp"

namespace posy::sketch {

namespace {
using wide_cells = basic_cells<std::byte, std::uint64_t>;

// The true value of such a cell is not known, so no cell of 64 bits is its equal.
bool any_is_stuck(const bit_array& memory, counter_width width) {
    if (width == counter_width::bits_64) return false;
    const const_cells narrow(memory);
    for (std::uint64_t i = 0; i < narrow.size(); ++i)
        if (narrow[i] == const_cells::largest) return true;
    return false;
}

result<bit_array> widened(const bit_array& memory) {
    const const_cells narrow(memory);
    auto wider = make_cells(narrow.size(), counter_width::bits_64);
    if (!wider) return wider;
    const wide_cells wide(*wider);
    for (std::uint64_t i = 0; i < narrow.size(); ++i) wide.set(i, narrow[i]);
    return wider;
}

bool sums_fit(const const_cells& a, const const_cells& b) {
    bool fit = true;
    for (std::uint64_t i = 0; i < a.size(); ++i) fit &= a[i] < const_cells::largest - b[i];
    return fit;
}
}  // namespace

result<bit_array> make_cells(std::uint64_t size, counter_width width) {
    if (size == 0 || size > max_cells)
        return error::invalid("a table of " + std::to_string(size) + " counters; 1 to 2^32 are possible");
    return bit_array::make(size * 8 * bytes_of(width));
}

result<void> add_cells(bit_array& into, counter_width& width, const bit_array& from,
                       counter_width width_of_from) {
    const bool narrow = width == counter_width::bits_32;
    const bool narrow_from = width_of_from == counter_width::bits_32;
    if (narrow && narrow_from && sums_fit(const_cells(into), const_cells(from))) {
        const cells sum(into);
        const const_cells more(from);
        for (std::uint64_t i = 0; i < sum.size(); ++i) sum.set(i, sum[i] + more[i]);
        return {};
    }
    if (any_is_stuck(into, width) || any_is_stuck(from, width_of_from))
        return error::mismatch(
            "a counter of 32 bits is saturated, so that the sum is not known; count with 64 bits "
            "(--counter-bits)");
    if (narrow) {
        auto wider = widened(into);
        if (!wider) return wider.error();
        into = std::move(*wider);
        width = counter_width::bits_64;
    }
    const wide_cells sum(into);
    with_cells(from, width_of_from, [&](const auto& more) {
        for (std::uint64_t i = 0; i < sum.size(); ++i)
            sum.set(i, saturating_sum<std::uint64_t>(sum[i], more[i]));
    });
    return {};
}

}  // namespace posy::sketch
