// The plan of a filter that is fast before it is small.
#pragma once

#include "posy/plan.hpp"

namespace posy::typed {

// As choose(), but with the fastest number of hashes of a layout in one line, unless the wishes name another
// or the array would be much larger.
result<plan> choose_fast(wishes want);

// The rest of what a plan needs for a geometry: the seed of the hasher that was asked for.
inline geometry geometry_of(const plan& p, const std::optional<hasher>& hash) {
    return p.geometry(p.hash, hash ? hash->seed() : hash_seed{});
}

}  // namespace posy::typed
