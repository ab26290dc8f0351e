#include "posy/counter_array.hpp"

#include "cell_words.hpp"

namespace posy {

result<counter_array> counter_array::make(std::uint64_t size, unsigned width) {
    auto cells = bit_array::make(size * width);
    if (!cells) return cells.error();
    return counter_array(std::move(*cells), width);
}

counter_array counter_array::from_cells(bit_array cells, unsigned width) {
    counter_array counters(std::move(cells), width);
    for (const std::uint64_t word : counters.cells_.words())
        if (word != 0) counters.saturated_ += bits::cells_full(word, width);
    return counters;
}

void counter_array::clear() {
    cells_.clear();
    saturated_ = 0;
}

}  // namespace posy
