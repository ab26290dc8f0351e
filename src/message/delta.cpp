#include "posy/delta.hpp"

#include <xxhash.h>

namespace posy {
namespace {

void exclusive_or(std::span<std::uint64_t> into, std::span<const std::uint64_t> with) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] ^= with[i];
}

}  // namespace

std::uint32_t bits_checksum(const bit_array& bits) {
    return static_cast<std::uint32_t>(XXH3_64bits(bits.words().data(), bits.words().size_bytes()));
}

result<filter_delta> make_delta(const bloom_filter& from, const bloom_filter& to,
                                std::uint64_t base_generation) {
    if (from.geometry() != to.geometry()) return mismatch(from.geometry(), to.geometry());
    auto flips = to.bits().clone();
    if (!flips) return flips.error();
    exclusive_or(flips->words(), from.bits().words());
    return filter_delta{to.geometry(), to.items(), base_generation, bits_checksum(from.bits()),
                        std::move(*flips)};
}

result<void> apply(bloom_filter& filter, const filter_delta& delta) {
    if (filter.geometry() != delta.geometry) return mismatch(filter.geometry(), delta.geometry);
    if (bits_checksum(filter.bits()) != delta.base_checksum) {
        return error{"the delta was made against other bits than these; get the full filter"};
    }
    exclusive_or(filter.bits().words(), delta.flips.words());
    filter.set_items(delta.items);
    return {};
}

}  // namespace posy
