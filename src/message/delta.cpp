#include "posy/delta.hpp"

#include <xxhash.h>

namespace posy {
std::uint32_t bits_checksum(const bit_array& bits) {
    return static_cast<std::uint32_t>(XXH3_64bits(bits.words().data(), bits.words().size_bytes()));
}

result<filter_delta> make_delta(const bloom_filter& from, const bloom_filter& to,
                                std::uint64_t base_generation) {
    if (from.geometry() != to.geometry()) return mismatch(from.geometry(), to.geometry());
    auto flips = to.bits().clone();
    if (!flips) return flips.error();
    flips->exclude(from.bits());
    return filter_delta{to.geometry(),     to.items(),
                        base_generation,   bits_checksum(from.bits()),
                        std::move(*flips), to.provenance().intersection};
}

result<void> apply(bloom_filter& filter, const filter_delta& delta) {
    if (filter.geometry() != delta.geometry) return mismatch(filter.geometry(), delta.geometry);
    if (bits_checksum(filter.bits()) != delta.base_checksum) {
        return error::mismatch("the delta was made against other bits than these; get the full filter");
    }
    filter.bits().exclude(delta.flips);
    filter.set_provenance({delta.items, delta.intersection, filter.provenance().planned});
    return {};
}

}  // namespace posy
