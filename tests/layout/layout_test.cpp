// The positions are the format: pinned here, and checked to be where the layouts say.
#include <cmath>
#include <set>

#include "layout/all.hpp"
#include "support.hpp"

namespace posy {
namespace {

std::vector<std::uint64_t> positions(const geometry& g, digest d) {
    std::vector<std::uint64_t> list;
    layouts::with_layout(g, [&](const auto& layout) {
        layout.positions(d, [&](std::uint64_t p) { return list.push_back(p), true; });
    });
    return list;
}

constexpr digest some{0x0123456789abcdef, 0xfedcba9876543210};

TEST(layout, pinned_positions) {
    using list = std::vector<std::uint64_t>;
    EXPECT_EQ(positions({1000, 4, layout_id::spread}, some), (list{4, 431, 870, 988}));
    EXPECT_EQ(positions({1000, 4, layout_id::sliced}, some), (list{1, 357, 717, 997}));
    EXPECT_EQ(positions({5120, 3, layout_id::blocked}, some), (list{353, 425, 494}));
    EXPECT_EQ(positions({5120, 8, layout_id::blocked}, some), (list{16, 72, 131, 213, 310, 353, 425, 494}));
    EXPECT_EQ(positions({5120, 11, layout_id::blocked}, some),
              (list{16, 72, 131, 213, 310, 353, 425, 494, 334, 393, 451}));
    EXPECT_EQ(positions({5120, 6, layout_id::paired}, some), (list{353, 425, 494, 3099, 3226, 3323}));
    EXPECT_EQ(positions({5120, 3, layout_id::narrow}, some), (list{85, 102, 119}));
    EXPECT_EQ(positions({5120, 11, layout_id::narrow}, some),
              (list{0, 17, 34, 51, 68, 85, 102, 119, 91, 103, 122}));
    EXPECT_EQ(positions({max_bits, 3, layout_id::spread}, some),
              (list{4886718345, 474277200849, 956638444015}));
}

TEST(layout, every_position_is_inside_and_where_the_layout_says) {
    const hasher hash;
    for (const geometry& g : all_shapes()) {
        for (int key = 0; key < 200; ++key) {
            const auto list = positions(g, hash(key));
            ASSERT_EQ(list.size(), g.hashes) << describe(g);
            for (std::size_t i = 0; i < list.size(); ++i) {
                ASSERT_LT(list[i], g.bits) << describe(g);
                if (g.layout == layout_id::sliced) {
                    const std::uint64_t slice = g.bits / g.hashes;
                    ASSERT_EQ(list[i] / slice, i) << describe(g);
                }
                if (g.layout == layout_id::blocked) {
                    ASSERT_EQ(list[i] / 512, list[0] / 512) << describe(g);
                }
                if (g.layout == layout_id::narrow) {
                    ASSERT_EQ(list[i] / 128, list[0] / 128) << describe(g);
                }
                if (g.layout == layout_id::paired) {
                    const bool second = i >= g.hashes / 2;
                    ASSERT_EQ(list[i] >= g.bits / 2, second) << describe(g);
                    ASSERT_EQ(list[i] / 512, list[second ? g.hashes / 2 : 0] / 512) << describe(g);
                }
            }
            const bool in_lines = g.layout != layout_id::spread && g.layout != layout_id::sliced;
            if (in_lines && g.hashes <= (g.layout == layout_id::paired ? 16u : 8u)) {
                std::set<std::uint64_t> words;
                for (const std::uint64_t p : list)
                    words.insert(p / (g.layout == layout_id::narrow ? 16 : 64));
                ASSERT_EQ(words.size(), g.hashes) << describe(g);
            }
        }
    }
}

TEST(layout, lines_cover_the_positions) {
    const hasher hash;
    for (const geometry& g : all_shapes()) {
        for (int key = 0; key < 50; ++key) {
            std::set<std::uint64_t> lines;
            layouts::with_layout(g, [&](const auto& layout) {
                layout.lines(hash(key), [&](std::uint64_t p) { lines.insert(p / 512); });
            });
            for (const std::uint64_t p : positions(g, hash(key)))
                ASSERT_TRUE(lines.contains(p / 512)) << describe(g);
        }
    }
}

// Uniform for every m, also one that is no power of two: chi-square over the positions of 200,000 keys. The
// statistic has m − 1 degrees of freedom; 5 deviations above its mean is a false alarm once in 10^6 or so.
TEST(layout, positions_are_uniform) {
    const hasher hash;
    for (const geometry& g : {geometry{97, 3, layout_id::spread}, geometry{99, 3, layout_id::sliced},
                              geometry{512, 3, layout_id::blocked}, geometry{1536, 6, layout_id::blocked},
                              geometry{1024, 13, layout_id::blocked}, geometry{3072, 6, layout_id::paired},
                              geometry{384, 5, layout_id::narrow}, geometry{256, 11, layout_id::narrow}}) {
        std::vector<double> counts(g.bits);
        for (std::uint64_t key = 0; key < 200'000; ++key) {
            for (const std::uint64_t p : positions(g, hash(key))) ++counts[p];
        }
        const double mean = 200'000.0 * g.hashes / static_cast<double>(g.bits);
        double chi2 = 0;
        for (const double count : counts) chi2 += (count - mean) * (count - mean) / mean;
        const auto freedom = static_cast<double>(g.bits - 1);
        EXPECT_LT(chi2, freedom + 5 * std::sqrt(2 * freedom)) << describe(g);
    }
}

TEST(layout, subsets_are_all_of_a_size_once) {
    for (unsigned size = 0; size < 8; ++size) {
        std::set<unsigned> seen;
        for (std::uint64_t random = 0; random < 65536; ++random) {
            const unsigned words = layouts::blocked::line::subset(random, size);
            ASSERT_EQ(static_cast<unsigned>(std::popcount(words)), size);
            seen.insert(words);
        }
        EXPECT_EQ(static_cast<double>(seen.size()),
                  std::round(std::tgamma(9) / std::tgamma(size + 1) / std::tgamma(9 - size)));
    }
}

}  // namespace
}  // namespace posy
