// An array of bits and how keys are placed in it: what all formats but one are made of. Bit i is bit i mod 8
// of byte i / 8, whatever order the format writes its words in.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::foreign {

// All that decides where a key's bits are; two arrays can be united if it is equal.
struct placing {
    using function = void(const placing&, byte_view key, std::span<std::uint64_t> places);

    std::uint64_t bits = 0;
    unsigned hashes = 0;
    std::uint32_t variant = 0;  // a seed, or the number of a hash
    function* place = nullptr;

    bool operator==(const placing&) const = default;
};

class placed_bits {
  public:
    // An array has whole bytes, some formats whole words. What lies behind the last bit is no place of a key:
    // it stays as it was read, and counts for nothing, as the programs have it.
    explicit placed_bits(const placing& how) : how_(how), bytes_((how.bits + 7) / 8) {}
    placed_bits(const placing& how, byte_view bytes) : how_(how), bytes_(bytes.begin(), bytes.end()) {}
    placed_bits(const placing& how, std::vector<std::byte>&& bytes) : how_(how), bytes_(std::move(bytes)) {}

    const placing& how() const { return how_; }
    std::vector<std::byte>& bytes() { return bytes_; }
    const std::vector<std::byte>& bytes() const { return bytes_; }

    // Whether a bit was set that was not.
    bool insert(byte_view key);
    bool may_contain(byte_view key) const;
    // Precondition: equal placing.
    void unite(const placed_bits&);

    std::uint64_t ones() const;
    // Of the first bits alone.
    std::uint64_t ones(std::uint64_t first_bits) const;
    // Of keys whose positions are independent.
    double false_positive_rate() const;
    // The same where a position is the remainder of a number below `range`: in arrays of about that size or
    // more the first bits are the likelier ones, and those behind it are never reached.
    double false_positive_rate(std::uint64_t range) const;

  private:
    placing how_;
    std::vector<std::byte> bytes_;
};

// Of hashes in Java that have 32 bits, whose sign is lost.
inline double rate_of_31_bits(const placed_bits& bits) {
    return bits.false_positive_rate(std::uint64_t{1} << 31);
}

}  // namespace posy::foreign
