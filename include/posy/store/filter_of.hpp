// A filter of all keys of a store, in one pass if there are as many as expected.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "posy/filter.hpp"
#include "posy/typed/keyed.hpp"

namespace posy::store {

// Called with each key.
template <class Key>
using key_visitor = std::function<void(key_argument<Key>)>;
// Shows all keys of a store, each at least once.
template <class Key>
using key_source = std::function<result<void>(const key_visitor<Key>&)>;

// With room for `room` keys, or for twice as many as there are if there are more: then the keys are read
// twice. The hash as in posy::filter; `turn` chooses one of its seeds, so that filters of different turns
// mistake different keys.
template <class Key>
result<filter<Key>> filter_of(const key_source<Key>& each_key, std::uint64_t room, double rate,
                              const std::optional<hasher>& asked = {}, std::uint64_t turn = 0) {
    for (;;) {
        const auto family = typed::hasher_for(asked, static_cast<double>(room), rate);
        if (!family) return family.error();
        const hasher turned(family->family(), {family->seed().low + turn, family->seed().high});
        auto made = filter<Key>::make(room, rate, check(turned) ? turned : *family);
        if (!made) return made;
        if (auto done = each_key([&](key_argument<Key> key) { made->insert(key); }); !done)
            return done.error();
        const std::uint64_t found = made->items().value_or(0);
        if (found <= room) return made;
        room = 2 * found;
    }
}

}  // namespace posy::store
