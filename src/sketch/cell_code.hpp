// Counters as bytes, row after row: a counter above 0 is a varint, and a run of zeros is a 0 followed by the
// number of further zeros, a varint. Most counters of a sketch are small: one byte each, a few for the heavy
// ones, and next to nothing for a table that is still empty. A run is never split, so there is one way to
// write a table.
#pragma once

#include <functional>
#include <vector>

#include "base/reader.hpp"
#include "sketch/cells.hpp"

namespace posy::sketch {

void append_cells(const bit_array& cells, std::vector<std::byte>& out);

// Reads a table of `size` cells, after checking that their memory fits what is left of `max_bytes`. Empty on
// error, which is recorded in `in`. `seen` is called for every cell above 0, so a table of zeros costs no
// more than its memory.
result<bit_array> take_cells(
    base::reader& in, std::uint64_t size, std::uint64_t max_bytes,
    const std::function<void(std::uint64_t at, std::uint32_t value)>& seen = [](auto, auto) {});

}  // namespace posy::sketch
