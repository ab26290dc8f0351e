#include "posy/typed/map.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace posy::typed {

result<bloomier_map> make_map(const hasher& hash, const pairs_to_store& all, double rate) {
    const std::uint64_t largest = all.values.empty() ? 0 : std::ranges::max(all.values);
    const auto value_bits = static_cast<unsigned>(std::max(1, static_cast<int>(std::bit_width(largest))));
    return bloomier_map::make(hash, all.digests, all.values, {.value_bits = value_bits, .rate = rate});
}

result<void> check_values(const bloomier_map& map, unsigned width) {
    if (map.value_bits() <= width) return {};
    return error::mismatch("values of " + std::to_string(map.value_bits()) + " bits do not fit into the " +
                           std::to_string(width) + " of this posy::typed::map; take a wider type");
}

}  // namespace posy::typed
