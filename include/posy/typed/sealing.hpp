// What is done with the keys of a set before it is sealed.
#pragma once

#include <new>
#include <ranges>
#include <vector>

#include "posy/typed/keyed.hpp"

namespace posy::typed {

// How many keys there are, or many_keys if that is not known beforehand.
template <class Range>
double size_hint(Range&& keys) {
    if constexpr (std::ranges::sized_range<Range>)
        return static_cast<double>(std::ranges::size(keys));
    else
        return many_keys;
}

// What collect() returns, or an error if there is no memory for it.
template <class Collect>
auto within_memory(const Collect& collect) -> result<decltype(collect())> {
    try {
        return collect();
    } catch (const std::bad_alloc&) {
        return error::too_large("no memory for the digests of all keys; split the set");
    }
}

template <class Key, class Range>
result<std::vector<digest>> digests_of(const hasher& hash, Range&& keys) {
    return within_memory([&] {
        std::vector<digest> all;
        if constexpr (std::ranges::sized_range<Range>) all.reserve(std::ranges::size(keys));
        for_each_batch_of_digests<Key>(
            hash, keys, [&](auto batch, std::size_t) { all.insert(all.end(), batch.begin(), batch.end()); });
        return all;
    });
}

// Of the whole payload; 0 without items.
template <class Body>
double bits_per_item(const Body& body) {
    const auto items = static_cast<double>(body.items());
    return items == 0 ? 0 : 8 * static_cast<double>(body.bytes().size()) / items;
}

}  // namespace posy::typed
