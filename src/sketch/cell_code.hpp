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

void append_cells(const bit_array& cells, counter_width, std::vector<std::byte>& out);

// Reads a table of `size` cells, after checking that their memory fits what is left of `max_bytes`. Empty on
// error, which is recorded in `in`. `seen` is called for every cell above 0, so a table of zeros costs no
// more than its memory.
result<bit_array> take_cells(
    base::reader& in, std::uint64_t size, counter_width, std::uint64_t max_bytes,
    const std::function<void(std::uint64_t at, std::uint64_t value)>& seen = [](auto, auto) {});

// The first byte of a sketch: the number of its rule or method, and in the highest bit whether its counters
// have 64 bits.
template <class Rule>
struct kind_of_cells {
    Rule rule;
    counter_width width;
};
template <class Rule>
void append_kind(kind_of_cells<Rule> kind, std::vector<std::byte>& out) {
    const unsigned wide = kind.width == counter_width::bits_64 ? 0x80 : 0;
    out.push_back(static_cast<std::byte>(static_cast<unsigned>(kind.rule) | wide));
}
template <class Rule>
kind_of_cells<Rule> take_kind(base::reader& in) {
    const unsigned first = in.byte();
    return {static_cast<Rule>(first & 0x7f), first < 0x80 ? counter_width::bits_32 : counter_width::bits_64};
}

}  // namespace posy::sketch
