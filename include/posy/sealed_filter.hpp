// The sealed filter: a set that will not change, within half a percent of n log2(1/ε) bits, the lower bound
// for any representation (plus up to 0.09 bits per key where ε is not a power of two). A Bloom filter needs
// 44 % more.
//
// Every key is a linear equation over GF(2): hashing selects some of 64 neighbouring unknowns, which must add
// up to the key's fingerprint. The system is solved and the solution is stored. The equation of a member
// holds; that of any other key holds with probability ε. The solver is a bumped ribbon (Dillinger,
// Hübschle-Schneider, Sanders and Walzer 2022, "BuRR"); docs/sealed.md explains it and specifies every byte
// of the payload.
//
// The survey's scheme for such sets, a perfect hash function that gives each key a place of its own in a
// table of fingerprints (Broder and Mitzenmacher 2004, 2.2), is made redundant by this: it has to store the
// hash function, which takes at least log2 e = 1.44 bits per key and usually 1.6 to 3, and a lookup reads two
// places. Here the equations follow from the keys and nothing but the solution is stored. With values beside
// the fingerprints the same engine is the Bloomier map (bloomier_map.hpp).
//
// It cannot insert or remove a key, unite or intersect two filters, list its keys, or send the difference
// between two generations: one more key changes every bit. For that there is bloom_filter.
//
// Ten million keys, one core (bench/sealed_bench.cpp, Zen 4, CPU time):
//
//   rate    bits per key   over n log2(1/ε)   build per key   lookup in a batch
//   1/256   8.028          +0.35 %            103 ns          19 ns
//   0.01    6.746          +1.54 %            103 ns          23 ns
//   0.001   10.007         +0.42 %            105 ns          25 ns
//
// A rate between two powers of two is reached by a mixture, which costs up to 0.09 bits per key.
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
    // The set of these digests, made by `hasher`; repeated ones count once. The payload depends on the set
    // and the rate alone, not on order, threads or machine. It fails only when memory cannot be allocated,
    // the rate is out of range, or the digests are not random at all; never by bad luck. It needs 16 bytes
    // per digest besides the result.
    static result<sealed_filter> make(hasher, std::span<const digest> digests, sealed_options = {});

    // A payload from elsewhere, at any address, and an owner that keeps it alive. Everything a lookup relies
    // on is checked, in a pass over less than 1 % of the bytes; offsets in errors count from the start of
    // `payload`. Damage to the other bytes gives wrong answers and nothing worse; a checksum finds it.
    static result<sealed_filter> open(hasher, std::shared_ptr<const void> keep_alive, byte_view payload);

    // The hasher that makes this filter's digests. It is not in the payload: family and seed are in the
    // message's header.
    hasher hash() const { return hash_; }
    // The number of different keys.
    std::uint64_t items() const;
    // The probability that an absent key is taken for a member, computed from the actual bytes. For sets of
    // several thousand keys or more it is within a percent of the requested rate; very small sets get the
    // next lower power of two.
    double false_positive_rate() const;
    // The payload, which open() takes.
    byte_view bytes() const;

    bool may_contain(digest) const;
    // One answer per digest, with prefetching; returns how many were yes. Precondition: the spans have the
    // same length.
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const;

  private:
    sealed_filter(hasher hash, std::shared_ptr<const sealed::ribbon> set)
        : hash_(hash), set_(std::move(set)) {}

    hasher hash_;
    std::shared_ptr<const sealed::ribbon> set_;
};

namespace theory {

// The whole payload in bits of a sealed filter of n keys, or of a Bloomier map with values of value_bits
// bits: n (v + r + x) (1 + 0.4 %) + some bytes, where r = ⌊log2(1/ε)⌋ and x = 2 − 2^(r+1) ε is the share of
// the keys with one bit more. It follows the builder's own choices, so it is also right for small sets:
// within 1 % of the mean from 10^4 keys on. NaN for more than 2^40 keys or ε outside 2^-32 to 1.
double sealed_bits(double n, double rate, unsigned value_bits = 0);

// The rate that such a filter will have when ε was requested: fingerprints of r bits and of one more are
// mixed in whole blocks of 64 unknowns, and in a set of at most 64 keys not at all. So up to 64 keys it is
// the next lower power of two; at some thousands of keys, within 2 % of ε.
double sealed_rate(double n, double rate);

}  // namespace theory

}  // namespace posy
