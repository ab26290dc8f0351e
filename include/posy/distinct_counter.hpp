// How many different values there were (HyperLogLog, Flajolet et al. 2007), in one kibibyte.
//
// Up to 128 values are kept as they are hashed, and the count is exact. Then 1024 registers keep the longest
// run of leading zeros among the hashes that fall to each of them: a run of r appears once in 2^r different
// values, and the same value changes nothing twice. The estimate is Ertl's (2017), which needs no tables and
// has no seam between few values and many; its standard error is 1.04/√1024 = 3.25 %, less below 2,000.
//
// Counters of parts unite into the counter of the whole, value for value.
//
// Cost: a comparison per value. Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/digest.hpp"
#include "posy/estimate.hpp"

namespace posy {

class distinct_counter {
  public:
    static constexpr unsigned index_bits = 10, registers = 1U << index_bits;
    static constexpr std::size_t exact = 128;
    static constexpr double standard_error = 0.0325;  // as a share of the count

    void add(digest value);
    // With its interval at 95 %.
    estimate count() const;
    // Counts what either has counted. Both were given digests of one hasher.
    void unite(const distinct_counter& from);

    // What it consists of, and a counter of that. At most one of the two is not empty.
    std::span<const std::uint64_t> hashes() const { return hashes_; }
    std::span<const std::uint8_t> highest_runs() const { return registers_; }
    static result<distinct_counter> of(std::span<const std::uint64_t> hashes,
                                       std::span<const std::uint8_t> highest_runs);

  private:
    void take(std::uint64_t hash);
    void raise(std::uint64_t hash);
    void raise_all();

    std::vector<std::uint64_t> hashes_;    // in order, at most `exact`; then none, and there are registers
    std::vector<std::uint8_t> registers_;  // 0: no hash fell here; else one more than the longest run
};

}  // namespace posy
