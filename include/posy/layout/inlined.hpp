// One key at a time, inlined into the caller with whatever instructions it is compiled for; the bits are
// those of the kernels. posy::filter<Key> is built on this.
//
// inlined<Layout, Hashes> is made from a geometry. With Hashes 0 the number of hashes is the geometry's, and
// fits() says if the code here has it: one line takes 8, one in every word; two lines take up to 14.
#pragma once

#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "posy/base/wide.hpp"
#include "posy/geometry.hpp"
#include "posy/layout/line_mask.hpp"
#include "posy/layout/probe.hpp"

namespace posy::layouts {

// Are all ones of the mask ones of the line?
template <class Lanes>
__attribute__((always_inline)) inline bool covers(const Lanes& line, const Lanes& mask) {
    const Lanes missing = mask & ~line;
    if constexpr (sizeof(Lanes) == 16) {
        const auto halves = reinterpret_cast<kernels::pair64>(missing);
        return (halves[0] | halves[1]) == 0;
    } else {
#if defined(__AVX512F__)
        const auto all = reinterpret_cast<__m512i>(missing);
        return _mm512_test_epi64_mask(all, all) == 0;
#elif defined(__AVX2__)
        __m256i half[2];
        __builtin_memcpy(half, &missing, sizeof half);
        const __m256i either = _mm256_or_si256(half[0], half[1]);
        return _mm256_testz_si256(either, either) != 0;
#else
        return ((missing[0] | missing[1]) | (missing[2] | missing[3]) | (missing[4] | missing[5]) |
                (missing[6] | missing[7])) == 0;
#endif
    }
}

// Relaxed, so that it may run beside insert_concurrently(); it compiles to a plain load.
inline bool is_set(const std::uint64_t* words, std::uint64_t at) {
    return __atomic_load_n(words + at / 64, __ATOMIC_RELAXED) >> at % 64 & 1;
}

// Layouts in one line or two.
template <unsigned WordBits, unsigned Parts, unsigned Hashes>
class inlined_lines {
  public:
    explicit inlined_lines(const geometry& g)
        : lines_(g.bits / line_bits<WordBits>::bits / Parts), in_line_(g.hashes / Parts) {}
    static bool fits(const geometry& g) {
        if (Hashes != 0) return g.hashes == Hashes;
        return Parts == 1 ? g.hashes == 8 : g.hashes / Parts < 8;
    }

    void insert(std::uint64_t* words, digest d) const {
        put(words, 0, d);
        if constexpr (Parts == 2) put(words, lines_, in_second_line(d));
    }
    bool may_contain(const std::uint64_t* words, digest d) const {
        const bool first = has(words, 0, d);
        if constexpr (Parts == 2) return first & has(words, lines_, in_second_line(d));
        return first;
    }

  private:
    static constexpr unsigned shape = Hashes != 0 ? Hashes / Parts : Parts == 1 ? 8 : 7;
    using lanes = kernels::lanes_of<8 * WordBits>;
    using mask_maker = kernels::mask_maker<lanes, shape / 8, shape % 8 != 0>;

    unsigned in_line() const { return Hashes == 0 && Parts == 2 ? in_line_ : shape; }

// Clang tells of its thread sanitizer in another way than GCC.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POSY_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define POSY_THREAD_SANITIZER
#endif

    // Bits are set and tested as vectors where the machine shifts the words of one by different amounts.
    // Every word of such a read is atomic there, which the thread sanitizer cannot know.
#if (defined(__AVX2__) || defined(__ARM_NEON)) && !defined(POSY_THREAD_SANITIZER)
    void put(std::uint64_t* words, std::uint64_t start, digest d) const {
        lanes mask;
        const mask_maker make(in_line());
        make(d, mask);
        reinterpret_cast<lanes*>(words)[start + base::scale(d.low, lines_)] |= mask;
    }
    bool has(const std::uint64_t* words, std::uint64_t start, digest d) const {
        lanes mask;
        const mask_maker make(in_line());
        make(d, mask);
        return covers(reinterpret_cast<const lanes*>(words)[start + base::scale(d.low, lines_)], mask);
    }
#else
    void put(std::uint64_t* words, std::uint64_t start, digest d) const {
        const std::uint64_t line = (start + base::scale(d.low, lines_)) * line_bits<WordBits>::bits;
        line_bits<WordBits>::positions(d, in_line(), [&](std::uint64_t at) {
            words[(line + at) / 64] |= std::uint64_t{1} << (line + at) % 64;
            return true;
        });
    }
    bool has(const std::uint64_t* words, std::uint64_t start, digest d) const {
        const std::uint64_t line = (start + base::scale(d.low, lines_)) * line_bits<WordBits>::bits;
        return line_bits<WordBits>::positions(d, in_line(),
                                              [&](std::uint64_t at) { return is_set(words, line + at); });
    }
#endif

    base::apart64 lines_;  // of a part
    unsigned in_line_;     // hashes
};

// Layouts whose probes go anywhere: in the whole array, or each in its slice.
template <bool Sliced, unsigned Hashes>
class inlined_probes {
  public:
    explicit inlined_probes(const geometry& g)
        : range_(Sliced ? g.bits / g.hashes : g.bits), hashes_(g.hashes) {}
    static bool fits(const geometry& g) { return Hashes == 0 || g.hashes == Hashes; }

    void insert(std::uint64_t* words, digest d) const {
        probe_sequence probes(d);
        for (unsigned i = 0; i < hashes(); ++i) {
            const std::uint64_t at = position(i, probes.next());
            words[at / 64] |= std::uint64_t{1} << at % 64;
        }
    }
    // Half of the probes of an absent key miss, unpredictably. Three at once, without a branch between them,
    // overlap their cache misses and leave one key in eight to the next branch, which is often mispredicted.
    bool may_contain(const std::uint64_t* words, digest d) const {
        probe_sequence probes(d);
        unsigned i = 0;
        const auto next = [&] { return is_set(words, position(i++, probes.next())); };
        if (hashes() >= 3) {
            const bool a = next(), b = next(), c = next();
            if (!(a & b & c)) return false;
        }
        while (i + 1 < hashes()) {
            const bool a = next(), b = next();
            if (!(a & b)) return false;
        }
        return i == hashes() || next();
    }

  private:
    unsigned hashes() const { return Hashes == 0 ? hashes_ : Hashes; }
    std::uint64_t position(unsigned i, std::uint64_t random) const {
        return (Sliced ? i * range_ : 0) + base::scale(random, range_);
    }

    base::apart64 range_;
    unsigned hashes_;
};

template <layout_id Layout, unsigned Hashes>
struct inlined;
template <unsigned Hashes>
struct inlined<layout_id::spread, Hashes> : inlined_probes<false, Hashes> {
    using inlined_probes<false, Hashes>::inlined_probes;
};
template <unsigned Hashes>
struct inlined<layout_id::sliced, Hashes> : inlined_probes<true, Hashes> {
    using inlined_probes<true, Hashes>::inlined_probes;
};
template <unsigned Hashes>
struct inlined<layout_id::blocked, Hashes> : inlined_lines<64, 1, Hashes> {
    using inlined_lines<64, 1, Hashes>::inlined_lines;
};
template <unsigned Hashes>
struct inlined<layout_id::paired, Hashes> : inlined_lines<64, 2, Hashes> {
    using inlined_lines<64, 2, Hashes>::inlined_lines;
};
template <unsigned Hashes>
struct inlined<layout_id::narrow, Hashes> : inlined_lines<16, 1, Hashes> {
    using inlined_lines<16, 1, Hashes>::inlined_lines;
};

}  // namespace posy::layouts
