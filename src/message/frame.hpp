// The frame around every payload (docs/format.md):
//
//   0  4  magic "POSY"
//   4  1  version, 1
//   5  1  kind            what the payload is
//   6  1  codec           how it is coded
//   7  1  header length   H, so that a reader can find the payload
//   8  …  layout, hash family, hashes (a byte each); bits, seed low, seed high, items + 1 or 0, counter bits,
//         payload length (varints); zeros up to H
//   H  …  payload
//   …  4  checksum of everything before it: the low half of XXH3-64
//
// Varints are LEB128, least group first, and the shortest form is the only one. A raw payload starts at a
// multiple of 64, so that a mapped file can be queried where it lies; other codecs do not pad.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/geometry.hpp"
#include "posy/result.hpp"

namespace posy::frame {

enum class kind : std::uint8_t { filter = 1, counting = 2 };
enum class codec : std::uint8_t { raw = 0 };

inline constexpr std::size_t prefix_size = 8;  // enough to know the header's length
inline constexpr std::size_t checksum_size = 4;

struct header {
    frame::kind kind = kind::filter;
    frame::codec codec = codec::raw;
    posy::geometry geometry;
    std::optional<std::uint64_t> items;
    unsigned counter_bits = 0;  // of a counting filter; else 0
    std::uint64_t payload_size = 0;
};

std::vector<std::byte> encode(const header&);

// The header's length, from the first prefix_size bytes of a message.
result<std::size_t> header_size(byte_view prefix);
// Precondition: `bytes` is exactly header_size() long. What comes back is a header that this build can read:
// known kind and codec, a geometry that passes check(), and the payload size that these imply.
result<header> decode(byte_view bytes);

std::uint64_t raw_size(const posy::geometry&, unsigned counter_bits);

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
