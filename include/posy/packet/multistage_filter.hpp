// The counters of a parallel multistage filter (Estan and Varghese 2002, 3.2): stages of counters, one of
// each stage for every key, none of them below what the key has sent.
//
// It is a Count-Min table with the two steps of an update apart, because between them the owner decides: look
// at the least of a key's counters, then raise those that are below a new bound (conservative update), or
// leave them because the key gets an entry of its own (shielding).
//
// Cost: one random access per stage. Counters have 32 bits and stick at the largest. Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "posy/bit_array.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy::packets {

class multistage_filter {
  public:
    static constexpr unsigned max_stages = 16;
    static constexpr std::uint32_t largest = 0xffffffff;

    // Stages are independent, pairwise independent functions of a digest, drawn from the seed.
    static result<multistage_filter> make(std::uint64_t width, unsigned stages, hash_seed seed);

    std::uint64_t width() const { return width_; }
    unsigned stages() const { return stages_; }
    std::uint64_t bytes() const { return 4 * width_ * stages_; }

    // The counters of one key, the first `stages()` of them.
    using places = std::array<std::uint32_t, max_stages>;
    places of(digest) const;
    // An upper bound of what was counted for the key.
    std::uint32_t least(const places&) const;
    // From now on the key's bound is at least `to`.
    void raise(const places&, std::uint32_t to);
    void clear();

  private:
    multistage_filter(std::uint64_t width, unsigned stages, hash_seed seed, bit_array cells);

    std::uint64_t width_;
    unsigned stages_;
    std::vector<std::uint64_t> draws_;
    bit_array cells_;
};

}  // namespace posy::packets
