// Hashes that other programs place keys by, bit for bit as those programs compute them: where one of them has
// its own idea of a published function, so has this.
//
// None is in Debian's packages in these forms; the vectors in tests/dialect hold them against the programs.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "posy/bytes.hpp"

namespace posy::foreign {

// MurmurHash3_x86_32 of Spark: each byte behind the last whole word is taken as a word of its own, with its
// sign.
std::uint32_t murmur3_of_spark(byte_view key, std::uint32_t seed);

// MurmurHash3_x64_128, seed 0.
std::pair<std::uint64_t, std::uint64_t> murmur3_128(byte_view key);

// The same as Cassandra has it: the bytes behind the last whole 16 are taken with their sign.
std::pair<std::uint64_t, std::uint64_t> murmur3_of_cassandra(byte_view key);

// MurmurHash2 of Hadoop: the bytes behind the last whole word are taken with their sign, and backwards.
std::uint32_t murmur2_of_hadoop(byte_view key, std::uint32_t seed);

// MurmurHash64A.
std::uint64_t murmur2_64(byte_view key, std::uint64_t seed);

// Jenkins' lookup3, hashlittle().
std::uint32_t lookup3(byte_view key, std::uint32_t seed);

// FNV-1 with 64 bits (multiplied first, not FNV-1a).
std::uint64_t fnv1(byte_view key);

// The hash of LevelDB's filters and, in its older ones, RocksDB's.
std::uint32_t leveldb_hash(byte_view key);

// The hash of RocksDB's filters since its format 5: a preview of XXH3, which libxxhash does not have.
std::uint64_t xxh3_preview(byte_view key);

}  // namespace posy::foreign
