// Ascending positions below `bits` as few bytes: their number, then the gaps between them in Rice's code
// (1971), r bits as they are and the rest in unary. r follows from bits and number, ⌊log2(ln 2 ·
// bits/number)⌋ in integers, which is right for the geometric gaps of a filter's ones: within 0.1 bits of the
// entropy per position. theory::coded_positions_bits() says how many bits to expect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/reader.hpp"
#include "posy/overlay/ones.hpp"

namespace posy::overlay {

// Ascending, and each once.
void unite(std::vector<position>&);

// Precondition: strictly ascending, all below `bits`.
void put_positions(std::vector<std::byte>& to, std::span<const position>, std::uint64_t bits);
// Strictly ascending and below `bits`, or the reader has failed. Memory is taken only for positions whose
// bits have arrived.
std::vector<position> take_positions(base::reader&, std::uint64_t bits);

}  // namespace posy::overlay
