// Squid's cache digest: a Bloom filter of the URLs a cache holds, as Squid 2.3 to 7 exchange it between
// siblings (GET /squid-internal-periodic/store_digest).
//
// Witness: testdata/squid, a digest that Squid 5.7 wrote. A key is MD5 of the method's number (GET is 1) as a
// byte and the URL; its four big-endian 32-bit words, each modulo the number of bits, are the positions.
//
//   offset  size  field, big-endian
//        0     2  current version, 5        16     4  bytes of the mask: (capacity · bits per entry + 7) / 8
//        2     2  required version, 3       20     1  bits per entry
//        4     4  capacity                  21     1  hashes, 4
//        8     4  count (not reliable)      22   106  zeros
//       12     4  deleted                  128        the mask, lowest bit first
//
// It always has four hashes, and any number of bits; there is no checksum and no compression. A receiver
// refuses a mask with more than 65 % of its bits set, so a mask needs at least 4 bits per key to be accepted.
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/read_limits.hpp"
#include "posy/result.hpp"

namespace posy {

class squid_digest {
  public:
    static constexpr std::size_t header_size = 128;
    static constexpr double max_fill = 0.65;

    // An error if this build has no MD5, or if the size of the mask does not fit the format's 32 bits.
    static result<squid_digest> make(std::uint64_t capacity, unsigned bits_per_entry = 8);
    // The bytes of its mask. Errors: as of make().
    static result<std::uint64_t> mask_size(std::uint64_t capacity, unsigned bits_per_entry);
    static result<squid_digest> from_bytes(byte_view bytes,
                                           const read_limits& = read_limits::exactly(std::uint64_t{1} << 28));
    std::vector<std::byte> to_bytes() const;

    // A receiver, from_bytes() too, refuses a digest above max_fill; whether it stays below with this URL.
    bool has_room_for(std::string_view url) const;
    void insert(std::string_view url);
    bool may_contain(std::string_view url) const { return may_contain(hash(url)); }
    // The same in two steps, so that a key is hashed once for many digests.
    static digest hash(std::string_view url);
    bool may_contain(digest) const;
    // Errors: another capacity or number of bits per entry.
    result<void> unite(const squid_digest&);

    std::uint64_t capacity() const { return capacity_; }
    std::uint64_t items() const { return items_; }
    std::uint64_t ones() const { return ones_; }
    double fill() const { return static_cast<double>(ones()) / (8 * static_cast<double>(mask_.size())); }
    double false_positive_rate() const;
    // Of the message.
    std::size_t size() const { return header_size + mask_.size(); }

  private:
    squid_digest(std::uint64_t capacity, unsigned bits_per_entry, std::uint64_t mask_bytes)
        : capacity_(capacity), bits_per_entry_(bits_per_entry), mask_(mask_bytes) {}

    std::uint64_t capacity_;
    unsigned bits_per_entry_;
    std::uint64_t items_ = 0, ones_ = 0;
    std::vector<std::byte> mask_;
};

}  // namespace posy
