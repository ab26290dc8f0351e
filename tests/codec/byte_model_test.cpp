#include "codec/byte_model.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace posy::codec {
namespace {

// Every byte that can occur has a share: its own, or the escape's and then one in the side stream. The shares
// fill the unit (the side stream's to a slot a byte) and do not overlap.
void expect_whole(const byte_model& m) {
    std::uint32_t sum = 0, side = 0;
    std::set<std::uint16_t> starts;
    for (unsigned b = 0; b < 256; ++b) {
        if (!m.escaped[b] && m.frequency[b] > 0) {
            sum += m.frequency[b];
            EXPECT_TRUE(starts.insert(m.start[b]).second) << b;
        }
        side += m.side_frequency[b];
        EXPECT_TRUE(m.escaped[b] || m.side_frequency[b] == 0) << b;
    }
    const bool escapes = side > 0;
    if (escapes) {
        EXPECT_TRUE(m.escaped[m.marker]);
        sum += m.frequency[m.marker];
        EXPECT_LE(side, 1u << side_bits);
        EXPECT_GE(side, (1u << side_bits) - 256);  // rounded down, a slot a byte at most
    }
    EXPECT_EQ(sum, slots);
}

TEST(byte_model, shares_fill_the_unit_at_every_density) {
    for (const std::uint64_t ones : {1u, 7u, 100u, 1000u, 10'000u, 60'000u, 133'000u, 300'000u, 500'000u}) {
        const byte_model m = model_of_density(ones, 1'000'000);
        expect_whole(m);
        // The more ones in a byte, the rarer it is.
        for (unsigned b = 1; b < 256; ++b) {
            if (!m.escaped[b]) {
                EXPECT_LE(m.frequency[b], m.frequency[0]) << b << " at " << ones;
            }
        }
    }
}

TEST(byte_model, weights_of_any_kind) {
    std::array<std::uint64_t, 256> weights{};
    weights[3] = 1;
    expect_whole(model_of_weights(weights));
    for (unsigned b = 0; b < 256; ++b) weights[b] = std::uint64_t{1} << b % 50;
    expect_whole(model_of_weights(weights));
}

}  // namespace
}  // namespace posy::codec
