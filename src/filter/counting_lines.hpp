// A line of 128 4-bit counters as eight words: the body of the kernels in counting_kernels.hpp, compiled like
// line_kernels.hpp and after it.
//
// Counters never carry into their neighbours: one is added only to nibbles that are not 15 and taken only
// from nibbles that are not 0 (nor 15, which sticks). A key's two layers are two additions, so that a counter
// met twice counts twice.
#pragma once

#include <bit>
#include <cstring>

#include "counting_kernels.hpp"
#include "line_kernels.hpp"

namespace posy::kernels {
namespace {

constexpr inline lanes64 low_bits = 0x1111111111111111 - lanes64{};  // of the nibbles

// In the low bit of every nibble: is it 15? is it not 0?
POSY_INLINE inline void stuck(const lanes64& counters, lanes64& which) {
    which = counters & counters >> 1;
    which &= which >> 2 & low_bits;
}
POSY_INLINE inline void positive(const lanes64& counters, lanes64& which) {
    which = counters | counters >> 1;
    which = (which | which >> 2) & low_bits;
}
POSY_INLINE inline bool none(const lanes64& which) { return covers(lanes64{}, which); }

// Position p of the line is bit p of the projection and nibble p of the counters.
struct layer {
    lanes64 units;  // ones in the nibbles
    lanes16 bits;
};

template <unsigned Full, bool Partial>
struct counted_line {
    static constexpr unsigned layers = Full + Partial;
    using layout = layouts::narrow::line;
    unsigned choices, first;
    layouts::narrow lines;

    explicit counted_line(const geometry& g)
        : choices(layout::choose[g.hashes % 8]), first(layout::first[g.hashes % 8]), lines(g) {}

    POSY_INLINE std::uint64_t of(digest d) const { return lines.line_of(0, d); }

    POSY_INLINE void operator()(digest d, layer (&key)[layers]) const {
        constexpr lanes64 one{1, 1, 1, 1, 1, 1, 1, 1}, shifts{0, 4, 8, 12, 16, 20, 24, 28};
        std::uint64_t source = d.high;
        for (unsigned l = 0; l < layers; ++l) {
            key[l].units = one << (((source - lanes64{}) >> shifts & 15) << 2);
            one_bit_a_word(source, key[l].bits);
            source = layout::second_source(d.low);
        }
        if constexpr (Partial) {
            const unsigned subset = layout::subsets[first + ((d.high >> 48) * choices >> 16)];
            keep(subset, key[layers - 1].units);
            keep(subset, key[layers - 1].bits);
        }
    }
};

POSY_INLINE inline void note_flips(counting_arrays& to, std::uint64_t line, const lanes16& flips) {
    if (!to.flipped) return;
    std::uint64_t words[2];
    std::memcpy(words, &flips, sizeof words);
    for (unsigned i = 0; i < 2; ++i) {
        std::uint64_t& now = to.flipped->words()[2 * line + i];
        now ^= words[i];
        to.flipped_count += static_cast<unsigned>(std::popcount(words[i] & now));
        to.flipped_count -= static_cast<unsigned>(std::popcount(words[i] & ~now));
    }
}

// The lines of the two arrays.
struct counted_lines {
    lanes64* counters;
    lanes16* projection;

    explicit counted_lines(const counting_arrays& of)
        : counters(reinterpret_cast<lanes64*>(of.counters.cells().words().data())),
          projection(reinterpret_cast<lanes16*>(of.projection.words().data())) {}
    POSY_INLINE void fetch(std::uint64_t line) const {
        __builtin_prefetch(counters + line, 0, 2);
        __builtin_prefetch(projection + line, 0, 2);
    }
};

template <class Line>
POSY_TARGET void fetch_counters(const counting_arrays& of, const geometry& g, const digest* later,
                                std::size_t count) {
    const Line line(g);
    const counted_lines lines(of);
    for (std::size_t i = 0; i < count; ++i) lines.fetch(line.of(later[i]));
}

template <class Line>
POSY_TARGET void insert_counted(counting_arrays& to, const geometry& g, const digest* now, std::size_t count,
                                bool more) {
    const Line line(g);
    const counted_lines lines(to);
    for (std::size_t i = 0; i < count; ++i) {
        if (more) lines.fetch(line.of(now[i + window]));
        layer key[Line::layers];
        line(now[i], key);
        const std::uint64_t at = line.of(now[i]);
        lanes64& counters = lines.counters[at];
        lanes16& projection = lines.projection[at];
        lanes64 values = counters;
        lanes16 bits{};
        for (const layer& l : key) {
            lanes64 full;
            stuck(values, full);
            const lanes64 added = l.units & ~full;
            values += added;
            stuck(values, full);
            const lanes64 filled = full & added;
            if (!none(filled)) [[unlikely]] {
                for (unsigned w = 0; w < 8; ++w)
                    to.counters.add_saturated(static_cast<unsigned>(std::popcount(filled[w])));
            }
            bits |= l.bits;
        }
        counters = values;
        const lanes16 flips = bits & ~projection;
        projection |= bits;
        note_flips(to, at, flips);
    }
}

template <class Line>
POSY_TARGET std::size_t remove_counted(counting_arrays& to, const geometry& g, const digest* now,
                                       std::size_t count, bool more, bool* removed) {
    const Line line(g);
    const counted_lines lines(to);
    std::size_t yes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (more) lines.fetch(line.of(now[i + window]));
        layer key[Line::layers];
        line(now[i], key);
        const std::uint64_t at = line.of(now[i]);
        lanes64& counters = lines.counters[at];
        lanes16& projection = lines.projection[at];
        lanes64 values = counters, which;
        bool there = true;
        for (const layer& l : key) {
            positive(values, which);
            there &= covers(which, l.units);
            stuck(values, which);
            values -= l.units & ~which;
        }
        removed[i] = there;
        yes += there;
        if (!there) continue;
        counters = values;
        positive(values, which);
        lanes16 flips{};
        for (const layer& l : key) {
            const lanes64 emptied = l.units & ~which;
            flips |= l.bits & __builtin_convertvector(reinterpret_cast<lanes64>(emptied != 0), lanes16);
        }
        projection &= ~flips;
        note_flips(to, at, flips);
    }
    return yes;
}

template <class Line>
constexpr counting_kernel counted{fetch_counters<Line>, insert_counted<Line>, remove_counted<Line>};

inline const counting_kernel* counted_kernel(unsigned hashes) {
    if (hashes < 8) return &counted<counted_line<0, true>>;
    if (hashes == 8) return &counted<counted_line<1, false>>;
    if (hashes < 16) return &counted<counted_line<1, true>>;
    return &counted<counted_line<2, false>>;
}

}  // namespace
}  // namespace posy::kernels
