// The closed list of layouts, and the one place where a layout's number becomes its type.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "layout/blocked.hpp"
#include "layout/narrow.hpp"
#include "layout/paired.hpp"
#include "layout/sliced.hpp"
#include "layout/spread.hpp"
#include "layout/traits.hpp"

namespace posy::layouts {

using all = std::tuple<spread, sliced, blocked, paired, narrow>;

// Every layout_id has a layout in the list.
static_assert([]<class... Layout>(std::tuple<Layout...>*) {
    return std::ranges::all_of(members<layout_id>, [](layout_id id) { return (... || (Layout::id == id)); });
}(static_cast<all*>(nullptr)));

// Calls use(Layout(g)) with the layout type that g.layout names. Precondition: check(g).
template <std::size_t I = 0, class Use>
decltype(auto) with_layout(const geometry& g, Use&& use) {
    using this_layout = std::tuple_element_t<I, all>;
    static_assert(layout<this_layout>);
    if constexpr (I + 1 < std::tuple_size_v<all>) {
        if (g.layout != this_layout::id) return with_layout<I + 1>(g, std::forward<Use>(use));
    }
    return use(this_layout(g));
}

// The expected false-positive rate with this many items. Precondition: check(g).
inline double expected_rate(const geometry& g, double items) {
    const double of_bits = with_layout(g, [&]<class Layout>(const Layout&) {
        return Layout::expected_rate(items, static_cast<double>(g.bits), g.hashes);
    });
    return with_collisions(of_bits, g.hash, items);
}

}  // namespace posy::layouts
