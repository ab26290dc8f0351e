// The kernels of the layouts whose probes go anywhere, spread and sliced: every probe is a cache miss of its
// own, and an absent key needs two of them, not k. Plain code, compiled by kernels.cpp for any machine and by
// the files of the instruction sets for theirs (with BMI2, multiplications and shifts by three operands save
// a third of the instructions). POSY_TARGET is what such a file says of its functions.
//
// Long because the levels of probe_by_levels() share their queues and counters in registers.
//
// Batched lookups pass three levels: probes 0 and 1, probes 2 and 3, the rest. At half fill a quarter of the
// absent keys passes from one level to the next. Such a key enters the queue of the next level, and the lines
// it will need there are prefetched; it is tested when enough others have entered after it. So memory is
// requested early, and only where it will be read; and in the first level, where the bits are a coin toss, no
// branch depends on them.
#pragma once

#include <algorithm>
#include <array>

#include "kernels.hpp"
#include "layout/sliced.hpp"
#include "layout/spread.hpp"

namespace posy::kernels {
namespace {

inline bool is_set(const std::uint64_t* words, std::uint64_t position) {
    // Relaxed, so that it may run during insert_concurrently(); it compiles to a plain load.
    return __atomic_load_n(words + position / 64, __ATOMIC_RELAXED) >> position % 64 & 1;
}

// Keys on their way, each with the random bits of its next probe and the step to those after it.
struct probe_queue {
    struct entry {
        std::uint64_t random, step;
        std::size_t key;
    };
    std::array<entry, 2 * window> keys;
    std::size_t size = 0;

    void forget(std::size_t count) {
        const auto first = keys.begin(), rest = first + static_cast<std::ptrdiff_t>(count);
        std::copy(rest, first + static_cast<std::ptrdiff_t>(size), first);
        size -= count;
    }
};

// Precondition: more than four hashes. Without Fetch it does all but ask for memory.
template <bool Fetch, class Layout>
POSY_TARGET std::size_t probe_by_levels(const std::uint64_t* words, const geometry& g, const digest* digests,
                                        std::size_t count, bool* answers) {
    const Layout layout(g);
    const unsigned hashes = g.hashes;
    const auto after = layouts::probe_sequence::after;
    probe_queue second, third;
    std::size_t yes = 0;

    const auto drain_third = [&](std::size_t drained) {
        for (std::size_t i = 0; i < drained; ++i) {
            auto [x, step, key] = third.keys[i];
            bool pass = true;
            for (unsigned probe = 4; probe < hashes; ++probe, x = after(x, step))
                pass &= is_set(words, layout.position(probe, x));
            answers[key] = pass;
            yes += pass;
        }
        third.forget(drained);
    };
    const auto drain_second = [&](std::size_t drained) {
        if (third.size >= window) drain_third(window);
        std::size_t size = third.size;
        for (std::size_t i = 0; i < drained; ++i) {
            const auto [x2, step, key] = second.keys[i];
            const std::uint64_t x3 = after(x2, step), x4 = after(x3, step);
            const bool pass = is_set(words, layout.position(2, x2)) & is_set(words, layout.position(3, x3));
            third.keys[size] = {x4, step, key};
            size += pass;
            if (Fetch && pass) {
                std::uint64_t x = x4;
                for (unsigned probe = 4; probe < hashes; ++probe, x = after(x, step))
                    prefetch(words, layout.position(probe, x));
            }
        }
        third.size = size;
        second.forget(drained);
    };
    const auto fetch = [&](const digest& d) {
        prefetch(words, layout.position(0, d.low));
        prefetch(words, layout.position(1, after(d.low, d.high)));
    };

    for (std::size_t i = 0; Fetch && i < std::min(window, count); ++i) fetch(digests[i]);
    for (std::size_t i = 0; i < count;) {
        // As many keys as there is room for, should all pass; so the loop need not look.
        std::size_t size = second.size;
        for (const std::size_t end = std::min(count, i + second.keys.size() - size); i < end; ++i) {
            if (Fetch && i + window < count) fetch(digests[i + window]);
            const auto [x0, step] = digests[i];
            const std::uint64_t x1 = after(x0, step), x2 = after(x1, step);
            const std::uint64_t first = layout.position(0, x0);
            const bool pass = is_set(words, first) & is_set(words, layout.position(1, x1));
            answers[i] = false;
            second.keys[size] = {x2, step, i};
            size += pass;
            if constexpr (Fetch) {  // a key that failed prefetches a line that is already cached
                const std::uint64_t passed = -std::uint64_t{pass};
                prefetch(words, first ^ ((first ^ layout.position(2, x2)) & passed));
                prefetch(words, first ^ ((first ^ layout.position(3, after(x2, step))) & passed));
            }
        }
        second.size = size;
        if (size >= window) drain_second(window);
    }
    while (second.size != 0) drain_second(std::min(window, second.size));
    drain_third(third.size);
    return yes;
}

template <class Layout>
POSY_TARGET void fetch_probes(const std::uint64_t* words, const geometry& g, const digest* later,
                              std::size_t count) {
    const Layout layout(g);
    for (std::size_t i = 0; i < count; ++i)
        layout.positions(later[i], [&](std::uint64_t position) { return prefetch(words, position), true; });
}

template <class Layout>
POSY_TARGET void insert_probes(std::uint64_t* words, const geometry& g, const digest* now, std::size_t count,
                               bool more) {
    const Layout layout(g);
    for (std::size_t i = 0; i < count; ++i) {
        if (more) {
            layout.positions(now[i + window],
                             [&](std::uint64_t position) { return prefetch(words, position), true; });
        }
        layout.positions(now[i], [&](std::uint64_t position) {
            words[position / 64] |= std::uint64_t{1} << position % 64;
            return true;
        });
    }
}

template <class Layout>
POSY_TARGET std::size_t probe_many(const std::uint64_t* words, const geometry& g, const digest* now,
                                   std::size_t count, bool, bool* answers) {
    if (g.hashes > 4) {
        return g.bits <= cached_probe_bits ? probe_by_levels<false, Layout>(words, g, now, count, answers)
                                           : probe_by_levels<true, Layout>(words, g, now, count, answers);
    }
    const Layout layout(g);
    const std::size_t head = std::min(window, count);
    fetch_probes<Layout>(words, g, now, head);
    std::size_t yes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i + head < count) fetch_probes<Layout>(words, g, now + i + head, 1);
        answers[i] =
            layout.positions(now[i], [&](std::uint64_t position) { return is_set(words, position); });
        yes += answers[i];
    }
    return yes;
}

// From probe i on, whose random bits are x; four at a time.
template <class Layout>
[[gnu::noinline]] POSY_TARGET bool probe_rest(const std::uint64_t* words, const geometry& g, std::uint64_t x,
                                              std::uint64_t step, unsigned i) {
    const Layout layout(g);
    while (i < g.hashes) {
        bool all = true;
        for (const unsigned end = std::min(g.hashes, i + 4); i < end; ++i) {
            all &= is_set(words, layout.position(i, x));
            x = layouts::probe_sequence::after(x, step);
        }
        if (!all) return false;
    }
    return true;
}

// Half of the probes of an absent key miss, unpredictably: asking three at once, without a branch between
// them, overlaps their cache misses and leaves one branch that is nearly always taken the same way. What
// comes after is a call, so that the common path saves no registers.
template <class Layout>
POSY_TARGET bool probe_one(const std::uint64_t* words, const geometry& g, std::uint64_t low,
                           std::uint64_t high) {
    if (g.hashes < 3) return probe_rest<Layout>(words, g, low, high, 0);
    const Layout layout(g);
    const std::uint64_t x1 = layouts::probe_sequence::after(low, high);
    const std::uint64_t x2 = layouts::probe_sequence::after(x1, high);
    const bool all = is_set(words, layout.position(0, low)) & is_set(words, layout.position(1, x1)) &
                     is_set(words, layout.position(2, x2));
    return all && probe_rest<Layout>(words, g, layouts::probe_sequence::after(x2, high), high, 3);
}

template <class Layout>
constexpr filter_kernel by_probes{
    fetch_probes<Layout>, insert_probes<Layout>, probe_many<Layout>, probe_one<Layout>, true,
    cached_probe_bits};

}  // namespace
}  // namespace posy::kernels
