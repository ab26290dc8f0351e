#include "posy/cell_array.hpp"

namespace posy {

result<cell_array> cell_array::make(std::uint64_t size) {
    if (size == 0 || size > max_size)
        return error{"a table of " + std::to_string(size) + " counters; 1 to 2^32 are possible"};
    auto memory = bit_array::make(size * 32);
    if (!memory) return memory.error();
    return cell_array(std::move(*memory));
}

result<cell_array> cell_array::clone() const {
    auto memory = memory_.clone();
    if (!memory) return memory.error();
    return cell_array(std::move(*memory));
}

void cell_array::merge(const cell_array& from) {
    for (std::uint64_t i = 0; i < size(); ++i) set(i, saturating_sum((*this)[i], from[i]));
}

}  // namespace posy
