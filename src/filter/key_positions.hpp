// The positions of one key, for code that visits them more than once.
#pragma once

#include <algorithm>
#include <array>

#include "layout/all.hpp"

namespace posy {

struct key_positions {
    std::array<std::uint64_t, 32> at;
    unsigned size = 0;

    // With repetition: two hashes that meet are there twice.
    key_positions(const geometry& g, digest d) {
        layouts::with_layout(g, [&](const auto& layout) {
            layout.positions(d, [&](std::uint64_t position) { return at[size++] = position, true; });
        });
    }
    // Each position once, the first time it comes.
    void drop_repeats() {
        unsigned kept = 0;
        for (const std::uint64_t position : *this) {
            if (std::find(at.data(), at.data() + kept, position) == at.data() + kept) at[kept++] = position;
        }
        size = kept;
    }
    std::uint64_t operator()(unsigned i) const { return at[i]; }
    const std::uint64_t* begin() const { return at.data(); }
    const std::uint64_t* end() const { return at.data() + size; }
};

}  // namespace posy
