// The options without which a dialect makes no filter: bip158 has a key.
#pragma once

#include "posy/dialect/foreign_filter.hpp"

namespace posy {

inline dialect_options needed_options(dialect which) {
    return {.key = which == dialect::bip158 ? std::optional(hash_seed{1, 2}) : std::nullopt};
}

}  // namespace posy
