// The scalar kernels, for every layout, and the choice among all.
#include "kernels.hpp"

#include <algorithm>
#include <array>

#include "layout/all.hpp"

#define POSY_TARGET  // any machine
#include "probe_kernels.hpp"

namespace posy::kernels {
namespace {

template <class Layout>
void fetch_lines(const std::uint64_t* words, const Layout& layout, digest d) {
    layout.lines(d, [&](std::uint64_t position) { prefetch(words, position); });
}

template <class Layout>
void fetch(const std::uint64_t* words, const geometry& g, const digest* later, std::size_t count) {
    const Layout layout(g);
    for (std::size_t i = 0; i < count; ++i) fetch_lines(words, layout, later[i]);
}

template <class Layout>
void insert(std::uint64_t* words, const geometry& g, const digest* now, std::size_t count, bool more) {
    const Layout layout(g);
    for (std::size_t i = 0; i < count; ++i) {
        if (more) fetch_lines(words, layout, now[i + window]);
        layout.positions(now[i], [&](std::uint64_t position) {
            words[position / 64] |= std::uint64_t{1} << position % 64;
            return true;
        });
    }
}

template <class Layout>
bool may_contain_one(const std::uint64_t* words, const geometry& g, std::uint64_t low, std::uint64_t high) {
    return Layout(g).positions({low, high}, [&](std::uint64_t position) { return is_set(words, position); });
}

template <class Layout>
std::size_t may_contain(const std::uint64_t* words, const geometry& g, const digest* now, std::size_t count,
                        bool more, bool* answers) {
    const Layout layout(g);
    std::size_t yes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (more) fetch_lines(words, layout, now[i + window]);
        answers[i] =
            layout.positions(now[i], [&](std::uint64_t position) { return is_set(words, position); });
        yes += answers[i];
    }
    return yes;
}

template <class Layout>
constexpr filter_kernel by_lines{fetch<Layout>,           insert<Layout>, may_contain<Layout>,
                                 may_contain_one<Layout>, false,          cached_bits};
const filter_kernel& scalar_kernel(const geometry& g) {
    return *layouts::with_layout(g, []<class Layout>(const Layout&) {
        if constexpr (layouts::lined<Layout>)
            return &by_lines<Layout>;
        else
            return &by_probes<Layout>;
    });
}

}  // namespace

const filter_kernel& kernel_for(const geometry& g, base::instruction_set set) {
    const filter_kernel* best = nullptr;
    if (set == base::instruction_set::avx512) best = avx512_kernel(g);
    if (set == base::instruction_set::avx2) best = avx2_kernel(g);
    return best ? *best : scalar_kernel(g);
}

}  // namespace posy::kernels
