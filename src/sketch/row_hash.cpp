#include "posy/row_hash.hpp"

#include "hash/draw.hpp"

namespace posy {

row_hash::row_hash(hash_seed seed, unsigned row) {
    // Not the seed itself: multiply-shift hashing draws from that, and a row must know nothing of the digest.
    constexpr std::uint64_t name = 0x6873616820776f72;  // "row hash"
    const std::uint64_t own = hash::draw(hash::draw(name ^ seed.high, 0) ^ seed.low, 0);
    for (unsigned i = 0; i < 4; ++i) a_[i] = hash::draw(own, 5 * row + i);
    b_ = hash::draw(own, 5 * row + 4);
}

}  // namespace posy
