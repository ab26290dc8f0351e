#include "sketch/row_positions.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace posy::sketch {
namespace {

TEST(row_positions, every_instruction_set_gives_the_same) {
    std::mt19937_64 random(4);
    for (const std::uint64_t width : {1u, 7u, 65'536u, 100'003u, 1u << 27}) {
        for (const std::size_t keys : {0u, 1u, 3u, 8u, 63u, 64u}) {
            std::vector<row_hash> rows;
            std::vector<std::uint64_t> drawn;
            for (unsigned row = 0; row < 32; ++row) {
                const auto of_row = row_hash::draw({random(), 0}, row);
                rows.emplace_back(of_row);
                drawn.insert(drawn.end(), of_row.begin(), of_row.end());
            }
            std::vector<digest> digests(keys);
            for (digest& d : digests) d = {random(), random()};
            for (const auto set : {base::instruction_set::scalar, base::instruction_set::avx2,
                                   base::instruction_set::avx512}) {
                if (!base::has(set)) continue;
                std::vector<std::uint32_t> positions(rows.size() * block_keys);
                row_positions_for(set)(drawn, width, digests, positions);
                for (std::size_t row = 0; row < rows.size(); ++row) {
                    for (std::size_t i = 0; i < keys; ++i) {
                        ASSERT_EQ(positions[row * block_keys + i], row * width + rows[row](digests[i], width))
                            << base::name_of(set);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace posy::sketch
