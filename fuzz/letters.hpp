// What the fuzz targets of the overlays share: an input as the letters of several senders, each behind its
// length (two bytes, little endian) and its sender (one byte). Machines have small tables and
// limits, and are copied where they can be: an input costs what its letters cost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "posy/overlay/mail.hpp"

namespace posy::overlay {

inline void require(bool holds) {
    if (!holds) std::abort();
}

inline std::size_t bytes_in(const outbox& out) {
    std::size_t sum = 0;
    for (const letter& each : out) sum += each.message.size();
    return sum;
}

// use(sender, message) for each of them.
template <class Use>
void each_letter(byte_view bytes, const Use& use) {
    while (bytes.size() >= 3) {
        const auto length =
            std::to_integer<std::size_t>(bytes[0]) + 256 * std::to_integer<std::size_t>(bytes[1]);
        const auto from = std::to_integer<node_id>(bytes[2]);
        bytes = bytes.subspan(3);
        const auto size = std::min(length, bytes.size());
        use(from, bytes.first(size));
        bytes = bytes.subspan(size);
    }
}

// Two machines talk until they have nothing more to say at this time; `out` is what `a` says first.
template <class Machine>
void converse(Machine& a, Machine& b, outbox out, std::uint64_t now) {
    for (Machine *from = &a, *to = &b; !out.empty(); std::swap(from, to)) {
        outbox answers;
        for (const letter& each : out) {
            if (each.to == to->id()) to->receive(from->id(), each.message, now, answers);
        }
        out = std::move(answers);
    }
}

}  // namespace posy::overlay
