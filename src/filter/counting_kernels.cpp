#include "counting_kernels.hpp"

#include "kernels.hpp"
#include "key_positions.hpp"
#include "layout/all.hpp"

namespace posy::kernels {
namespace {

void flip(counting_arrays& to, std::uint64_t position) {
    to.projection.flip(position);
    if (!to.flipped) return;
    to.flipped->flip(position);
    to.flipped->test(position) ? ++to.flipped_count : --to.flipped_count;
}

void fetch(const counting_arrays& of, const geometry& g, const digest* later, std::size_t count) {
    layouts::with_layout(g, [&](const auto& layout) {
        for (std::size_t i = 0; i < count; ++i)
            layout.positions(later[i], [&](std::uint64_t position) {
                prefetch(of.counters.cells().words().data(), position * of.counters.width());
                prefetch(of.projection.words().data(), position);
                return true;
            });
    });
}

// Whether a counter leaves 0 or returns to it nobody can predict, so that is done without a branch; with one,
// the processor waits for the memory of one key before it begins with the next.
void insert_one(counting_arrays& to, const geometry& g, digest d) {
    // Hashes that meet in one counter count twice, as in the paper.
    for (const std::uint64_t position : key_positions(g, d)) {
        const bool left_0 = to.counters.increment(position) == 0;
        if (to.flipped) {
            if (left_0) flip(to, position);
        } else {
            to.projection.set(position);
        }
    }
}

void insert(counting_arrays& to, const geometry& g, const digest* now, std::size_t count, bool more) {
    for (std::size_t i = 0; i < count; ++i) {
        if (more) fetch(to, g, now + i + window, 1);
        insert_one(to, g, now[i]);
    }
}

bool remove_one(counting_arrays& to, const geometry& g, digest d) {
    const key_positions positions(g, d);
    for (const std::uint64_t& position : positions) {
        // A key that was inserted left at least as many increments here as it has hashes that meet here.
        unsigned meet = 1;
        for (const std::uint64_t* other = positions.begin(); other != &position; ++other)
            meet += *other == position;
        if (to.counters[position] < meet) return false;
    }
    for (const std::uint64_t position : positions) {
        const bool back_at_0 = to.counters.decrement(position) == 1;
        if (to.flipped) {
            if (back_at_0) flip(to, position);
        } else {
            to.projection.words()[position / 64] &= ~(std::uint64_t{back_at_0} << position % 64);
        }
    }
    return true;
}

std::size_t remove(counting_arrays& to, const geometry& g, const digest* now, std::size_t count, bool more,
                   bool* removed) {
    std::size_t yes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (more) fetch(to, g, now + i + window, 1);
        yes += removed[i] = remove_one(to, g, now[i]);
    }
    return yes;
}

constexpr counting_kernel scalar{fetch, insert, remove};

}  // namespace

const counting_kernel& counting_kernel_for(const geometry& g, unsigned counter_bits,
                                           base::instruction_set set) {
    const counting_kernel* best = nullptr;
    if (g.layout == layouts::narrow::id && counter_bits == 4) {
        if (set == base::instruction_set::avx512) best = avx512_counting_kernel(g.hashes);
        if (set == base::instruction_set::avx2) best = avx2_counting_kernel(g.hashes);
    }
    return best ? *best : scalar;
}

}  // namespace posy::kernels
