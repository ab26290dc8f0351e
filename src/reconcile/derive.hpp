// Random-looking numbers from an element: which coded symbols it is in, its checksum, its signs in a sketch,
// its share in the value of a tree node. All of it is the format (docs/reconcile.md).
//
// A digest is random already; mixing it again for each purpose keeps the purposes independent, and makes
// digests that are not random (zero, a counter) harmless. It is no protection against an attacker who chooses
// keys: that is what a keyed hash family is for.
#pragma once

#include <cstdint>

#include "base/mix.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

using base::mix;

enum class purpose : std::uint64_t { places = 1, check = 2, signs = 3, node = 4, probe = 5 };

constexpr std::uint64_t derive(const digest& element, purpose what) {
    return mix(mix(element.high + static_cast<std::uint64_t>(what) * 0x9e3779b97f4a7c15) + element.low);
}

// The digest by which an element is looked up in a Bloom filter: its own, or one made of its half.
constexpr digest probe_of(const digest& element, digest_width width) {
    return width == digest_width::full ? element : digest{element.low, derive(element, purpose::probe)};
}

}  // namespace posy::reconcile
