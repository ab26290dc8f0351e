#include "row_positions.hpp"

namespace posy::sketch {
namespace {

[[gnu::always_inline]] inline void fill(std::span<const std::uint64_t> rows, std::uint64_t width,
                                        std::span<const digest> digests, std::span<std::uint32_t> positions) {
    for (std::size_t row = 0; row < rows.size() / row_hash::draws; ++row) {
        const row_hash in_row(rows.subspan(row * row_hash::draws).first<row_hash::draws>());
        const std::uint64_t start = row * width;
        std::uint32_t* const to = &positions[row * block_keys];
        for (std::size_t i = 0; i < digests.size(); ++i)
            to[i] = static_cast<std::uint32_t>(start + in_row(digests[i], width));
    }
}

void scalar(std::span<const std::uint64_t> rows, std::uint64_t width, std::span<const digest> digests,
            std::span<std::uint32_t> positions) {
    fill(rows, width, digests, positions);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void avx2(std::span<const std::uint64_t> rows, std::uint64_t width,
                                  std::span<const digest> digests, std::span<std::uint32_t> positions) {
    fill(rows, width, digests, positions);
}
[[gnu::target("avx512f,avx512dq,avx512vl")]] void avx512(std::span<const std::uint64_t> rows,
                                                         std::uint64_t width, std::span<const digest> digests,
                                                         std::span<std::uint32_t> positions) {
    fill(rows, width, digests, positions);
}
#endif

}  // namespace

row_positions_function* row_positions_for([[maybe_unused]] base::instruction_set set) {
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512) return avx512;
    if (set == base::instruction_set::avx2) return avx2;
#endif
    return scalar;
}

}  // namespace posy::sketch
