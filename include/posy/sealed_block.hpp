// The sealed filter of a few keys in a given number of bytes, queried where it lies: for the blocks of a
// store, which have a small filter each and nothing that could keep a decoded one.
//
// It is the sealed filter (sealed_filter.hpp) without layers, and with three bytes of its own instead of a
// header. With n keys in b bits it has ⌊b/n⌋ fingerprint bits or one less, so the rate is 2^-⌊b/n⌋ or twice
// that, where a Bloom filter has 0.6185^(b/n). At 10 bits per key that is 1 in 512 instead of 1 in 120.
// docs/stores.md specifies the bytes.
//
// Cost: to make, 60 ns per key in blocks of 35; a lookup adds up two fingerprint bits of an absent key on
// average, and hashes the block for its checksum. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"

namespace posy::sealed_block {

// Appends a filter of exactly `size` bytes, or of 3 if the keys do not fit: that one says yes to every key.
// The digests may be repeated; what is appended depends on their set and the size alone.
void append(std::span<const digest> digests, std::size_t size, std::vector<std::byte>& to);

// Yes as well if the block is damaged: its 16-bit checksum misses one damage in 65,536.
bool may_contain(byte_view block, digest);

// The probability that an absent key is taken for a member: 2 to the minus fingerprint bits.
double false_positive_rate(byte_view block);

}  // namespace posy::sealed_block
