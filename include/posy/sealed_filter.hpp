// The sealed filter: a set that will not change, within half a percent of the n log2(1/ε) bits that no
// representation can do without (and 0.09 bits a key where ε is no power of two). A Bloom filter needs 44 %
// more.
//
// Every key is a linear equation over GF(2) in 64 neighbouring unknowns, found by hashing; they shall add up
// to the key's fingerprint. Solve the system and keep the solution: a member's equation holds, a stranger's
// holds with probability ε. The solver is a bumped ribbon (Dillinger, Hübschle-Schneider, Sanders and Walzer
// 2022, "BuRR"); docs/sealed.md tells how, and what each byte of the payload is.
//
// The survey's scheme for such sets, a perfect hash function that gives each key a place of its own in a
// table of fingerprints (Broder and Mitzenmacher 2004, 2.2), is made redundant by this: it has to store the
// hash function, for which log2 e = 1.44 bits a key are the least possible and 1.6 to 3 usual, and it looks
// in two places. Here the equations follow from the keys and nothing but the solution is stored. With values
// beside the fingerprints the same engine is the Bloomier map (bloomier_map.hpp).
//
// What it cannot do: insert or remove a key, unite or intersect two filters, list its keys, or send the
// difference between two generations: one key more and every bit is another. For that there is bloom_filter.
//
// Ten million keys, one core (bench/sealed_bench.cpp, Zen 4, CPU time):
//
//   rate    bits a key   over n log2(1/ε)   build     lookups in a batch
//   1/256   8.028        +0.35 %            103 ns    19 ns
//   0.01    6.746        +1.54 %            103 ns    23 ns     rates between two powers of two are had by a
//   0.001   10.007       +0.42 %            105 ns    25 ns     mixture, which costs up to 0.09 bits
//
// Thread safety: immutable; copies share the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy {

namespace sealed {
class ribbon;
}

struct sealed_options {
    double rate = 0.01;    // of false positives: 2^-32 to below 1
    unsigned threads = 1;  // to build with
};

class sealed_filter {
  public:
    // The set of these digests, which `hasher` has made; repeated ones count once. The payload depends on the
    // set and the rate alone, not on order, threads or machine. Building never fails for want of luck: only
    // when memory cannot be had, or a rate, or when digests are not random at all. It needs 16 bytes a digest
    // besides the result.
    static result<sealed_filter> make(hasher, std::span<const digest> digests, sealed_options = {});

    // A payload that came from elsewhere, at any address, and whatever keeps it alive. All that a lookup
    // relies on is checked, in a pass over less than a hundredth of the bytes; offsets in errors count from
    // the first of `payload`. Bytes damaged where no check can see it give wrong answers and nothing worse; a
    // checksum tells.
    static result<sealed_filter> open(hasher, std::shared_ptr<const void> keep_alive, byte_view payload);

    // The hasher that makes this filter's digests. It is not in the payload: family and seed travel outside.
    hasher hash() const { return hash_; }
    // How many different keys.
    std::uint64_t items() const;
    // The probability that a stranger is taken for a member, as it follows from these very bytes. For sets of
    // some thousand keys and more it is within a percent of what was asked for; the fewest keys get the next
    // power of two below.
    double false_positive_rate() const;
    // The payload, which open() takes.
    byte_view bytes() const;

    bool may_contain(digest) const;
    // One answer a digest, memory fetched ahead; how many were yes. Precondition: the spans are of one
    // length.
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const;

  private:
    sealed_filter(hasher hash, std::shared_ptr<const sealed::ribbon> set)
        : hash_(hash), set_(std::move(set)) {}

    hasher hash_;
    std::shared_ptr<const sealed::ribbon> set_;
};

namespace theory {

// The whole payload of a sealed filter of n keys, or of a Bloomier map with values
// of so many bits: n (v + r + x) (1 + 0.4 %) + some bytes, where r = ⌊log2(1/ε)⌋ and x = 2 − 2^(r+1) ε is the
// share of the keys with one bit more. It follows the builder's own choices, so small sets are right, too:
// within 1 % of the mean from 10^4 keys on. NaN for more than 2^40 keys or ε outside 2^-32 to 1.
double sealed_bits(double n, double rate, unsigned value_bits = 0);

// The rate that such a filter will have, where ε was asked for: fingerprints of r bits and of one more are
// mixed in whole blocks of 64 unknowns, and in a set of at most 64 keys not at all. So up to 64 keys it is
// the next lower power of two; at some thousands of keys, within 2 % of ε.
double sealed_rate(double n, double rate);

}  // namespace theory

}  // namespace posy
