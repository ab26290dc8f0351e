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
            for (unsigned row = 0; row < 32; ++row) rows.emplace_back(hash_seed{random(), 0}, row);
            std::vector<digest> digests(keys);
            for (digest& d : digests) d = {random(), random()};
            for (const auto set : {base::instruction_set::scalar, base::instruction_set::avx2,
                                   base::instruction_set::avx512}) {
                if (!base::has(set)) continue;
                std::vector<std::uint32_t> positions(rows.size() * block_keys);
                row_positions_for(set)(rows, width, digests, positions);
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
