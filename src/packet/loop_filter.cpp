#include "posy/packet/loop_filter.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/mix.hpp"

namespace posy::packets {

result<void> check(const loop_network& network) {
    if (network.bits == 0 || network.bits % 8 != 0 || network.bits > loop_network::max_bits)
        return error::invalid("a loop filter of " + std::to_string(network.bits) +
                              " bits; a multiple of 8 up to 512 is possible");
    if (network.mask_bits == 0 || network.mask_bits > network.bits)
        return error::invalid("masks of " + std::to_string(network.mask_bits) + " bits in a filter of " +
                              std::to_string(network.bits) + "; 1 to as many as the filter has are possible");
    return {};
}

// A draw that hits a bit again is repeated: all sets of mask_bits bits are equally likely.
result<loop_mask> loop_mask::make(const loop_network& network, std::uint64_t node, std::uint8_t salt) {
    if (auto valid = check(network); !valid) return valid.error();
    const std::uint64_t stream = base::draw(base::draw(network.seed, salt), node);
    loop_mask mask;
    unsigned set = 0;
    for (std::uint64_t i = 0; set < network.mask_bits; ++i) {
        const std::uint64_t bit = (base::draw(stream, i) >> 32) * network.bits >> 32;
        std::uint64_t& word = mask.words_[bit / 64];
        const std::uint64_t one = std::uint64_t{1} << bit % 64;
        set += (word & one) == 0;
        word |= one;
    }
    return mask;
}

result<loop_filter> loop_filter::read(const loop_network& network, byte_view field) {
    if (auto valid = check(network); !valid) return valid.error();
    if (field.size() != network.bytes())
        return error::damaged("a loop filter of " + std::to_string(field.size()) +
                              " bytes where the network has " + std::to_string(network.bytes()));
    loop_filter filter;
    for (std::size_t i = 0; i < field.size(); ++i)
        filter.words_[i / 8] |= std::to_integer<std::uint64_t>(field[i]) << 8 * (i % 8);
    return filter;
}

void loop_filter::write(std::span<std::byte> field) const {
    assert(field.size() <= sizeof words_);
    for (std::size_t i = 0; i < field.size(); ++i)
        field[i] = static_cast<std::byte>(words_[i / 8] >> 8 * (i % 8));
}

}  // namespace posy::packets
