#include "sketch/row_hash.hpp"

#include "base/mix.hpp"

namespace posy::sketch {

std::array<std::uint64_t, row_hash::draws> row_hash::draw(hash_seed seed, unsigned row) {
    // Not the seed itself: multiply-shift hashing draws from it, and a row must be independent of the digest.
    constexpr std::uint64_t name = 0x6873616820776f72;  // "row hash"
    const std::uint64_t own = base::draw(base::draw(name ^ seed.high, 0) ^ seed.low, 0);
    std::array<std::uint64_t, draws> drawn{};
    for (unsigned i = 0; i < draws; ++i) drawn[i] = base::draw(own, draws * row + i);
    return drawn;
}

}  // namespace posy::sketch
