#include "sealed/shape.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace posy::sealed {
namespace {

TEST(sealed_shape, a_mixture_has_the_rate) {
    for (double rate = 1; rate >= 0x1p-32; rate *= 0.937) {
        const auto [fingerprint, extra] = mixture_for(rate);
        EXPECT_GE(extra, 0);
        EXPECT_LT(extra, 1);
        EXPECT_NEAR(std::ldexp(1 - extra / 2, -static_cast<int>(fingerprint)) / rate, 1, 1e-15);
    }
    for (int power = 0; power <= 32; ++power) {
        EXPECT_EQ(mixture_for(std::ldexp(1, -power)).fingerprint, static_cast<unsigned>(power));
        EXPECT_EQ(mixture_for(std::ldexp(1, -power)).extra, 0);
    }
}

// A layer has a few percent fewer unknowns than keys, at every size; its extra blocks have at least the share
// asked for among those where windows start, and at most a block more.
TEST(sealed_shape, layers_are_overloaded_and_mixed) {
    for (std::uint64_t keys = small_set + 1; keys < 300'000'000; keys += keys / 13) {
        for (const double extra : {0.0, 0.001, 0.5, 0.72, 0.999}) {
            const layer_shape layer = layer_for(keys, extra);
            EXPECT_NEAR(static_cast<double>(keys) / static_cast<double>(64 * layer.blocks()), 1.04, 0.018);
            EXPECT_LT(layer.chunk_blocks(), max_chunk_blocks);
            double rich = 0;
            const auto all = static_cast<double>(layer.chunks * layer.start_blocks);
            for (std::uint64_t chunk = 0; chunk < layer.chunks; ++chunk) {
                const std::uint64_t first = chunk * layer.chunk_blocks();
                const std::uint64_t from = std::clamp(layer.lean, first, first + layer.start_blocks);
                rich += static_cast<double>(first + layer.start_blocks - from);
            }
            EXPECT_GE(rich, extra * all);
            EXPECT_LT(rich, extra * all + 1);
            EXPECT_EQ(layer.word_of(layer.lean, {3, 4}), 7 * layer.lean);
            EXPECT_EQ(layer.table_bytes({3, 4}), 8 * (8 * layer.blocks() - layer.lean));
        }
    }
}

TEST(sealed_shape, the_remainder_grows_until_it_can_be_solved) {
    EXPECT_EQ(remainder_for(0, 0.5, 0).unknowns, 0u);
    for (const std::uint64_t keys : {1, 2, 63, 64, 65, 100, 1000, 2048}) {
        std::uint64_t before = keys;
        for (std::uint64_t attempt = 0; attempt < 512; ++attempt) {
            const remainder_shape shape = remainder_for(keys, 0.5, attempt);
            EXPECT_GE(shape.unknowns, before);
            EXPECT_LE(shape.unknowns, max_remainder);
            EXPECT_EQ(shape.starts() + shape.width() - 1, shape.unknowns);
            EXPECT_LE(2 * shape.lean, shape.starts());
            before = shape.unknowns;
        }
        EXPECT_GT(before, keys + keys / 5);
        EXPECT_EQ(remainder_for(keys, 0, 0).lean, remainder_for(keys, 0, 0).unknowns);
    }
}

TEST(sealed_shape, a_header_comes_back_from_its_bytes) {
    const header h{{7, 9}, 1'000'000, {{16, 940, 5000}, {1, 600, 0}}, {1700, 300, 200}};
    std::vector<std::byte> bytes;
    h.put(bytes);
    bytes.push_back(std::byte{77});
    std::uint64_t behind = 0;
    const auto back = header::take(bytes, behind);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(behind, bytes.size() - 1);
    std::vector<std::byte> again;
    back->put(again);
    again.push_back(std::byte{77});
    EXPECT_EQ(again, bytes);
    EXPECT_EQ(back->layers.size(), 2u);
    EXPECT_EQ(back->remainder.seed, 200u);
    for (std::size_t size = 0; size + 1 < bytes.size(); ++size) {
        EXPECT_FALSE(header::take(byte_view(bytes).first(size), behind)) << size;
    }
}

TEST(sealed_shape, refuses_numbers_outside_their_limits) {
    const header good{{0, 8}, 5000, {{1, 70, 60}}, {300, 0, 0}};
    const auto refused = [](const header& h) {
        std::vector<std::byte> bytes;
        h.put(bytes);
        std::uint64_t behind = 0;
        const auto taken = header::take(bytes, behind);
        return !taken && taken.error().offset.has_value();
    };
    EXPECT_FALSE(refused(good));
    const auto with = [&](auto change) {
        header h = good;
        change(h);
        return refused(h);
    };
    EXPECT_TRUE(with([](header& h) { h.columns.fingerprint = 33; }));
    EXPECT_TRUE(with([](header& h) { h.columns.value = 65; }));
    EXPECT_TRUE(with([](header& h) { h.items = max_items + 1; }));
    EXPECT_TRUE(with([](header& h) { h.items = 0; }));
    EXPECT_TRUE(with([](header& h) { h.layers.resize(max_layers + 1, h.layers[0]); }));
    EXPECT_TRUE(with([](header& h) { h.layers[0].chunks = 0; }));
    EXPECT_TRUE(with([](header& h) { h.layers[0].chunks = max_chunks + 1; }));
    EXPECT_TRUE(with([](header& h) { h.layers[0].start_blocks = 0; }));
    EXPECT_TRUE(with([](header& h) { h.layers[0].start_blocks = max_chunk_blocks; }));
    EXPECT_TRUE(with([](header& h) { h.layers[0].lean = 72; }));
    EXPECT_TRUE(with([](header& h) { h.remainder.unknowns = max_remainder + 1; }));
    EXPECT_TRUE(with([](header& h) { h.remainder.lean = 301; }));
    EXPECT_TRUE(with([](header& h) { h.remainder.seed = ~std::uint64_t{0}; }));
    EXPECT_TRUE(with([](header& h) {
        h.layers.clear();
        h.remainder.unknowns = 0;
    }));
}

}  // namespace
}  // namespace posy::sealed
