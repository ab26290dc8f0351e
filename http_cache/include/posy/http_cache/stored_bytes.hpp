// A stored response as bytes, for the disk. Little-endian; lengths and counts are varints (LEB128).
//
//   0   4  "PSYC"
//   4   4  version, 1
//   8   8  bytes of the head
//   16  8  bytes of the body
//   24  8  checksum of the body: low half of XXH3-128
//   32  8  checksum of the 32 bytes above and of the head
//   40     the head: url, count of vary names and the names, secondary key, received, initial age (both as 8
//          bytes, two's complement), status, reason, count of fields and for each its name and value; a text
//          is its length and its bytes
//          the body
//
// The head can be checked without the body, so that a store of many gigabytes opens by reading its heads.
#pragma once

#include <string>

#include "posy/bytes.hpp"
#include "posy/http_cache/stored_response.hpp"
#include "posy/result.hpp"

namespace posy::http_cache {

inline constexpr std::size_t stored_prefix_size = 40;
inline constexpr std::uint64_t most_stored_head = std::uint64_t{1} << 20;  // a larger one is an error
inline constexpr std::uint64_t most_stored_body = std::uint64_t{1} << 40;

// Everything before the body.
std::string head_bytes(const stored_response&);

// How many bytes the head and the body have, by the first stored_prefix_size bytes.
struct stored_sizes {
    std::uint64_t head = 0, body = 0;
    std::uint64_t total() const { return stored_prefix_size + head + body; }
};
result<stored_sizes> parse_sizes(byte_view prefix);

// What is stored, by the prefix and the head; the label's size is that of all the bytes.
result<label> parse_label(byte_view prefix_and_head);

// All of it, the body's checksum included.
result<stored> parse_stored(byte_view);
// The same with the body apart.
result<stored> parse_stored(byte_view prefix_and_head, std::shared_ptr<const std::string> body);

}  // namespace posy::http_cache
