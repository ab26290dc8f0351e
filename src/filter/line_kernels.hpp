// The SIMD kernels of the layouts that keep a key's bits in lines: one body, compiled once for every
// instruction set. line_kernels_avx2.cpp and line_kernels_avx512.cpp include it after saying what differs:
//
//   POSY_TARGET          the attributes of a function that uses the set
//   covers(line, mask)   are all ones of the mask ones of the line?
//
// Another set, NEON for instance, is one more such file.
//
// A kernel is specialised for the shape of k, ⌊k/8⌋ full layers and perhaps a partial one, because that is
// what changes the instructions; k itself is not worth a copy.
//
// Lines are read as plain vectors, also during insert_concurrently(). On machines with these instructions
// every 64-bit word of such a read is atomic, and a line with some newer words is as valid as an old one.
#pragma once

#include "kernels.hpp"
#include "layout/all.hpp"
#include "posy/layout/line_mask.hpp"
#include "probe_kernels.hpp"

namespace posy::kernels {
namespace {

// Which lines a digest touches, and the masks in them.
template <class Layout, unsigned Full, bool Partial>
struct touched_lines {
    using lanes = lanes_of<Layout::line::bits>;
    static constexpr unsigned touched = Layout::parts;
    Layout layout;
    mask_maker<lanes, Full, Partial> mask_of;

    explicit touched_lines(const geometry& g) : layout(g), mask_of(g.hashes / touched) {}

    POSY_INLINE void places(digest d, std::uint64_t (&line)[touched]) const {
        for (unsigned part = 0; part < touched; ++part)
            line[part] = layout.line_of(part, Layout::in_part(part, d));
    }
    POSY_INLINE void masks(digest d, lanes (&mask)[touched]) const {
        for (unsigned part = 0; part < touched; ++part) mask_of(Layout::in_part(part, d), mask[part]);
    }
};

template <class Shape>
POSY_INLINE inline void fetch_lines(const std::uint64_t* words, const Shape& shape, digest d) {
    std::uint64_t line[Shape::touched];
    shape.places(d, line);
    for (const std::uint64_t each : line)
        __builtin_prefetch(reinterpret_cast<const typename Shape::lanes*>(words) + each, 0, 2);
}

template <class Shape>
POSY_INLINE inline bool hit(const std::uint64_t* words, const Shape& shape, digest d) {
    std::uint64_t line[Shape::touched];
    typename Shape::lanes mask[Shape::touched];
    shape.places(d, line);
    shape.masks(d, mask);
    const auto* lines = reinterpret_cast<const typename Shape::lanes*>(words);
    bool all = true;  // without a branch between two lines
    for (unsigned i = 0; i < Shape::touched; ++i) all &= covers(lines[line[i]], mask[i]);
    return all;
}

template <class Shape>
POSY_TARGET void fetch(const std::uint64_t* words, const geometry& g, const digest* later,
                       std::size_t count) {
    const Shape shape(g);
    for (std::size_t i = 0; i < count; ++i) fetch_lines(words, shape, later[i]);
}

template <class Shape>
POSY_TARGET void insert(std::uint64_t* words, const geometry& g, const digest* now, std::size_t count,
                        bool more) {
    const Shape shape(g);
    auto* lines = reinterpret_cast<typename Shape::lanes*>(words);
    for (std::size_t i = 0; i < count; ++i) {
        if (more) fetch_lines(words, shape, now[i + window]);
        std::uint64_t line[Shape::touched];
        typename Shape::lanes mask[Shape::touched];
        shape.places(now[i], line);
        shape.masks(now[i], mask);
        for (unsigned j = 0; j < Shape::touched; ++j) lines[line[j]] |= mask[j];
    }
}

template <class Shape>
POSY_TARGET std::size_t may_contain(const std::uint64_t* words, const geometry& g, const digest* now,
                                    std::size_t count, bool more, bool* answers) {
    const Shape shape(g);
    std::size_t yes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (more) fetch_lines(words, shape, now[i + window]);
        answers[i] = hit(words, shape, now[i]);
        yes += answers[i];
    }
    return yes;
}

template <class Shape>
POSY_TARGET bool may_contain_one(const std::uint64_t* words, const geometry& g, std::uint64_t low,
                                 std::uint64_t high) {
    return hit(words, Shape(g), {low, high});
}

template <class Shape>
constexpr filter_kernel kernel{fetch<Shape>,           insert<Shape>, may_contain<Shape>,
                               may_contain_one<Shape>, false,         cached_bits};

template <class Layout>
const filter_kernel* line_kernel(unsigned hashes_per_line) {
    if (hashes_per_line < 8) return &kernel<touched_lines<Layout, 0, true>>;
    if (hashes_per_line == 8) return &kernel<touched_lines<Layout, 1, false>>;
    if constexpr (Layout::max_hashes / Layout::parts > 8) {
        if (hashes_per_line < 16) return &kernel<touched_lines<Layout, 1, true>>;
        return &kernel<touched_lines<Layout, 2, false>>;
    }
    return nullptr;
}

// All of the set's kernels.
inline const filter_kernel* kernel_of(const geometry& g) {
    return layouts::with_layout(g, [&]<class Layout>(const Layout&) -> const filter_kernel* {
        if constexpr (layouts::lined<Layout>)
            return line_kernel<Layout>(g.hashes / Layout::parts);
        else
            return &by_probes<Layout>;
    });
}

}  // namespace
}  // namespace posy::kernels
