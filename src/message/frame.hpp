// The frame around every payload (docs/format.md):
//
//   offset  size    field
//   0       4       magic "POSY"
//   4       1       version, 1
//   5       1       kind: what the payload is
//   6       1       codec: how the payload is coded; of a queryable filter, its form
//   7       1       header length H
//   8       1       layout               0 in kinds 5 to 12
//   9       1       hash family
//   10      1       hashes               0 in kinds 5 to 12
//   11      varint  bits                 0 in kinds 5 to 12
//           varint  seed, low half
//           varint  seed, high half
//           varint  items                0 unknown, 1 an intersection's, else + 2; 0 in kinds 5 to 12
//           varint  counter bits         4 or 8 in a counting filter, else 0
//           varint  generation
//           varint  base generation      only in a delta
//           4       base checksum        only in a delta
//           varint  planned items        only in kinds 1, 2 and 4; 0: no plan
//           8       planned rate         only after planned items that are not 0
//           varint  payload length
//                   zeros up to H        only in kinds 1 to 3 with codec raw: H is then a multiple of 64
//   H               payload
//           4       checksum of everything before it: the low half of XXH3-64
//
// Varints are LEB128, least group first, and only the shortest form is valid. The padding aligns a raw array
// so that a mapped file can be queried in place; all other payloads follow the header at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bits/array_memory.hpp"
#include "posy/bytes.hpp"
#include "posy/codec.hpp"
#include "posy/compressed_filter.hpp"
#include "posy/geometry.hpp"
#include "posy/message_kind.hpp"
#include "posy/provenance.hpp"
#include "posy/result.hpp"

namespace posy::frame {

// Kinds up to queryable have a geometry in the header; the payload of any other describes itself, and the
// header has only the hash and its seed.
using kind = message_kind;

inline constexpr std::size_t prefix_size = 8;  // enough to know the header's length
inline constexpr std::size_t checksum_size = 4;

struct header {
    frame::kind kind = kind::filter;
    codec_id codec = codec_id::raw;  // but of a queryable filter:
    queryable_form form = queryable_form::small;
    posy::geometry geometry;
    posy::provenance provenance;  // a delta has no plan
    unsigned counter_bits = 0;    // of a counting filter; else 0
    std::uint64_t generation = 0;
    std::uint64_t base_generation = 0;  // of a delta
    std::uint32_t base_checksum = 0;
    std::uint64_t payload_size = 0;

    bool has_geometry() const { return kind <= kind::queryable; }
    bool has_plan() const { return has_geometry() && kind != kind::delta; }
    bool raw() const { return kind < kind::queryable && codec == codec_id::raw; }
    // Bits of the array that the payload stands for.
    std::uint64_t array_bits() const { return geometry.bits * (kind == kind::counting ? counter_bits : 1); }
    // Its size in memory.
    std::uint64_t array_bytes() const { return (array_bits() + 63) / 64 * 8; }
    // The same plus, for a counting filter, the plain filter that it keeps besides its counters.
    std::uint64_t memory_bytes() const {
        return bits::array_memory(array_bits()) +
               (kind == kind::counting ? bits::array_memory(geometry.bits) : 0);
    }
};

std::vector<std::byte> encode(const header&);

// The header's length, from the first prefix_size bytes of a message.
result<std::size_t> header_size(byte_view prefix);
// Precondition: `bytes` is exactly header_size() long. The result is a header that this build can read: known
// kind and codec, a geometry that passes check(), and a payload size that these allow.
result<header> decode(byte_view bytes);

// The padding in the header of a raw array, which aligns the array for mapping. A coding may be larger than
// the array by less than this, and its message is still the smaller one.
std::uint64_t padding_of_raw(header, std::uint64_t array_bytes);

class checksum {
  public:
    checksum();
    ~checksum();
    checksum(const checksum&) = delete;
    checksum& operator=(const checksum&) = delete;

    void add(byte_view);
    std::uint32_t value() const;

  private:
    struct XXH3_state_s* state_;
};

}  // namespace posy::frame
