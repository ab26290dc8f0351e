// The filter of a table file: its bytes, made and asked.
//
//     0   form: 1 sealed, 2 paired, 3 blocked
//     1   hashes of a Bloom filter, else 0
//     2   zeros
//     8   checksum: XXH3-64 of bytes 0 to 7 and 16 to the end
//     16  zeros
//     48  a sealed filter's payload (docs/sealed.md), or the array of a Bloom filter (docs/format.md)
//
// The header is this long because large blocks of memory begin 16 bytes behind a cache line, as malloc hands
// them out: so the lines of the array are cache lines. Nothing depends on it. Keys are hashed by fold64 with
// seed 0. Thread safety: const calls from many threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/stores/rocksdb.hpp"

namespace posy::stores {

// The bytes of a filter of these digests. Nothing when memory cannot be allocated, or the digests are none.
std::vector<std::byte> make_table_filter(std::span<const digest>, double bits_per_key, filter_form);

// A filter in bytes that stay where they are as long as it is asked.
class table_filter {
  public:
    // Damaged or unknown bytes give a filter that says yes to every key.
    explicit table_filter(byte_view);

    static hasher hash() { return hasher(hash_family::fold64); }
    bool may_contain(digest) const;
    // With the memory of all fetched first. Precondition: the spans have the same length.
    void may_contain(std::span<const digest>, std::span<bool> answers) const;

  private:
    // The lines of a Bloom filter, at any address.
    struct lines {
        const std::byte* first;
        std::uint64_t count;  // of a part
        unsigned parts, hashes_in_line;

        const std::byte* line(unsigned part, digest) const;
        bool may_contain(digest) const;
    };
    struct everything {};

    std::variant<everything, lines, sealed_filter> filter_;
};

}  // namespace posy::stores
