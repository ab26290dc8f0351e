// The error about two plain filters that do not go together.
#pragma once

#include "posy/geometry.hpp"

namespace posy {

// What differs, and what to do: the larger of two that differ in their size alone can perhaps be folded.
error unequal(const geometry&, const geometry&);

}  // namespace posy
