// The dialects, each in its file, and the steps that their readers share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "array_filter.hpp"

namespace posy::foreign {

// Errors that name the program.
result<void> check_size(byte_view, std::size_t least, std::string_view program);
// The bytes behind the head are exactly an array of this many words of 64 bits, and there is at least one.
result<void> check_array(byte_view, std::size_t head, std::uint64_t words, std::string_view program);
result<void> check_hashes(std::uint64_t hashes, std::uint64_t at);

// That this machine has so much memory.
result<void> check_memory(std::uint64_t bytes);
error no_memory(std::uint64_t bytes);
error too_many_hashes();

// What a filter is made for.
struct wanted {
    std::uint64_t items;
    double rate;
    const dialect_options& options;
};

// The size that Spark and Guava choose: whole words, fewer than 2^31 of them.
result<placing> java_size(const wanted&);
// Places by first + i · second in 32 bits, i from 1: Spark's first version and Guava's first strategy.
void place_by_sums(const placing&, std::uint32_t first, std::uint32_t second, std::span<std::uint64_t>);

// The bytes of a split-block filter that stands at the front of these, with its header.
std::optional<std::uint64_t> size_of_parquet(byte_view);

// What there is to know of a dialect.
struct grammar {
    bool (*fits)(byte_view);  // none: the bytes do not tell
    any_filter (*read)(byte_view, const dialect_options&);
    result<placing> (*size)(const wanted&);  // takes no memory; an error beyond the format's limits
    any_filter (*make)(const wanted&, const placing&);
    double bytes_per_bit = 1.0 / 8;  // of memory
    // How many bytes a filter has that begins so, if it begins as one; none: its beginning does not tell.
    std::optional<std::uint64_t> (*whole)(byte_view) = nullptr;
    // The lowest rate with so many items; none: as low as one likes.
    double (*least_rate)(std::uint64_t items) = nullptr;
};
extern const grammar spark_v1, spark_v2, guava_32, guava_64, hadoop, hadoop_counting, hadoop_dynamic,
    hadoop_retouched, parquet, squid, dcso, redis, bip158, leveldb, rocksdb, cassandra;

}  // namespace posy::foreign
