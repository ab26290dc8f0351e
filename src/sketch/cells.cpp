#include "sketch/cells.hpp"

namespace posy::sketch {

result<bit_array> make_cells(std::uint64_t size) {
    if (size == 0 || size > max_cells)
        return error::invalid("a table of " + std::to_string(size) + " counters; 1 to 2^32 are possible");
    return bit_array::make(size * 32);
}

void add_cells(bit_array& into, const bit_array& from) {
    const cells sum(into);
    const const_cells more(from);
    for (std::uint64_t i = 0; i < sum.size(); ++i) sum.set(i, saturating_sum(sum[i], more[i]));
}

}  // namespace posy::sketch
