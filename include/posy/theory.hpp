// The mathematics of Bloom filters: pure functions, each under its formula and the paper that gave it.
//
// Throughout, n items are in a filter of m bits with k hashes; n and m are whole numbers held in doubles,
// because they may be huge. A rate is the probability that a key outside the set is taken for a member. k is
// real where the formula is smooth in it, `unsigned` where it counts. Nothing here allocates more than a few
// kilobytes (blocked_rate: 32 KiB per k, once), and every function may be called from any thread.
#pragma once

#include <cstdint>
#include <numbers>
#include <span>

namespace posy::theory {

// ---- Entropy -------------------------------------------------------------------------------------------

// H(p) = −p log2 p − (1−p) log2(1−p), in bits; 0 at both ends.
double binary_entropy(double p);

// log2 C(m, x): what an optimal coder pays for an array of m bits of which x are set. Stirling's series and
// not a difference of lgammas, which at m = 2^40 keep only two decimals: relative error below 1e-14.
double log2_binomial(double m, double x);

// ---- Fill (Broder & Mitzenmacher 2004, 2.1) ------------------------------------------------------------

// p' = (1 − 1/m)^(kn): the probability that a given bit is still 0, exactly.
double zero_probability(double n, double m, double k);

// p = e^(−kn/m), what p' tends to.
double zero_probability_asymptotic(double n, double m, double k);

// Var Z, Z the number of zeros: m(m−1)(1−2/m)^(kn) + m p' − m² p'². The three terms cancel to about m of m²;
// rewritten as m p' (1 − (1−1/(m−1))^(kn)) − m² p'² (1 − (1−1/(m−1)²)^(kn)) they do not.
double zero_count_variance(double n, double m, double k);

// P(|Z − E Z| > εm): 2 exp(−ε²m²/2nk), Azuma with steps of 1 (Mitzenmacher 2002, theorem 1), and
// 2 exp(−2ε²m²/nk), McDiarmid for independent hashes (Broder & Mitzenmacher 2004, 2.1). Both hold; the
// second has four times the exponent. Above 1 they say nothing.
double azuma_bound(double epsilon, double n, double m, double k);
double mcdiarmid_bound(double epsilon, double n, double m, double k);

// ---- Rates ---------------------------------------------------------------------------------------------

// f = (1 − e^(−kn/m))^k: the textbook formula (Fan et al. 1998; Mitzenmacher 2002, II-A).
double false_positive_rate_asymptotic(double n, double m, double k);

// f' = (1 − p')^k: the rate of a filter whose fill is exactly the mean (Broder & Mitzenmacher 2004, 2.1).
double false_positive_rate_mean_fill(double n, double m, double k);

// E[(X/m)^k], X the number of ones: the expected rate of the classic layout, one array shared by all hashes.
// Exact at every size. f' is lower by Jensen's inequality, as Bose et al. (2008) found; relatively by about
// C(k,2) Var Z/(m(1−p'))², so only small filters notice. O(k³ log nk).
double spread_rate(double n, double m, unsigned k);

// (1 − (1 − k/m)^n)^k: each hash has a slice of m/k bits to itself. Slices are independent, so the product of
// their expectations is exact. Never below f' (Broder & Mitzenmacher 2004, 2.1), equal at k = 1.
double sliced_rate(double n, double m, unsigned k);

// A key's bits in one of L lines of 8 words; each word gets ⌊k/8⌋ of them, and a random k mod 8 of the words
// one more. Σ_x C(n,x) L^−x (1−1/L)^(n−x) P(hit | x keys in the line), exact but for lines of more than 4096
// keys, taken as all but full. Words of 64 bits are the blocked layout, of 16 the narrow one; of two half
// arrays with half of the hashes each, the rate of the paired one is the product. NaN unless 1 ≤ k ≤ 16.
double blocked_rate(double n, double m, unsigned k, unsigned word_bits = 64);

// ---- Sizing --------------------------------------------------------------------------------------------

// k = ln 2 · m/n minimises f, at half-full (Fan et al. 1998); k = −ln 2 / (n ln(1−1/m)) minimises f' (Lam
// 2017 slides). The integral one is the whole k ≥ 1 with the least f, the smaller of two equals.
double optimal_hashes(double n, double m);
double optimal_hashes_exact(double n, double m);
unsigned optimal_hashes_integral(double n, double m);

// 0.6185^(m/n) = exp(−(ln 2)² m/n): f at the real optimum.
double optimal_rate(double bits_per_item);

// n log2(1/ε) bits: the lower bound for any representation (Broder & Mitzenmacher 2004, 2.2).
double lower_bound_bits(double n, double rate);

// log2[C(u, n) / C(n + ε(u−n), n)] bits, where the keys come from a universe of u: the same bound before u
// goes to infinity, where it is n log2(1/ε). Smaller below, and at ε = 0 it is log2 C(u, n), the set itself.
// NaN unless u ≥ n. Relative error below 1e-12 up to u = 10^300.
double lower_bound_bits(double n, double rate, double universe);

// n log2 e · log2(1/ε) bits: what the Bloom filter needs, log2 e = 1.44 times as much.
inline constexpr double bloom_overhead = std::numbers::log2e;
double bloom_bits(double n, double rate);

// m = ⌈−n ln ε/(ln 2)²⌉ and k = max(1, round(m ln 2/n)), as Hadoop filters are sized (Miner & Shook 2012,
// app. A). The Java helpers printed there use float, so m is off by tens of bits at 10^8 items; truncate, so
// the rate asked for is missed by a hair; return int, so m silently stops at 2^31 − 1; and let k round to 0,
// a filter that says yes to everything. These do not. At least 1 bit, at most 2^64 − 1.
std::uint64_t hadoop_bits(double n, double rate);
unsigned hadoop_hashes(double n, double m);

// What those helpers return, digit by digit: getOptimalBloomFilterSize(int, float), truncated, and
// getOptimalK(float, float), rounded half up, with Java's arithmetic and its saturating casts to int.
std::int32_t hadoop_printed_bits(std::int32_t n, float rate);
std::int32_t hadoop_printed_hashes(float n, float m);

// ---- The list of hash values (Broder & Mitzenmacher 2004, 2.3) -----------------------------------------

// n keys are hashed to b bits each, and a sorted list of the values stands for the set; it is the Bloom
// filter with one hash and m = 2^b, sent as positions. An absent key's value is in the list with probability
// 1 − (1 − 2^−b)^n, which the union bound puts at n 2^−b: 1/n for b = 2 log2 n.
double hash_list_rate(double n, double value_bits);

// The fewest whole bits per value that keep the rate at or below ε.
unsigned hash_list_value_bits(double n, double rate);

// 2^b (1 − (1 − 2^−b)^n): how many different values to expect; the rest of the keys share theirs.
double hash_list_values(double n, double value_bits);

// log2 C(2^b, d) for d different values: the sorted list, by an optimal coder.
double hash_list_coded_bits(double n, double value_bits);

// ---- Counters (Fan et al. 1998; Broder & Mitzenmacher 2004, 2.5) ---------------------------------------

// P(c = j) = C(nk,j) m^−j (1−1/m)^(nk−j), and P(c ≥ j), for one given counter.
double counter_probability(unsigned j, double n, double m, unsigned k);
double counter_tail(unsigned j, double n, double m, unsigned k);

// P(c ≥ j) in such lines, where beyond k = 8 one key can meet a counter twice.
double blocked_counter_tail(unsigned j, double n, double m, unsigned k, unsigned word_bits = 64);

// Bounds on P(any counter ≥ j), each looser than the one before; above 1 they say nothing.
// m C(nk,j)/m^j
double overflow_bound_binomial(unsigned j, double n, double m, unsigned k);
// m (enk/jm)^j
double overflow_bound_power(unsigned j, double n, double m, unsigned k);
// m (e ln 2/j)^j, for any filter at most half full; 1.37e-15 m at j = 16, where four bits overflow
double overflow_bound_half_full(unsigned j, double m);
// the same over a history of t sets
double overflow_bound_sets(double m, double t, unsigned j = 16);

// P(any counter ≥ j), to 1e-4 of it or better (src/theory/occupancy.hpp says how): all throws go to all
// counters. And where a key's are dealt out in lines, as above, to three digits or better.
double overflow_probability(unsigned j, double n, double m, unsigned k);
double blocked_overflow_probability(unsigned j, double n, double m, unsigned k, unsigned word_bits = 64);

// x ≥ 2 with Γ(x) = y, for y ≥ 1.
double inverse_gamma(double y);

// Γ⁻¹(m) (1 + ln(kn/m)/ln Γ⁻¹(m)): the expected maximum, asymptotically (Fan et al. 1998, after Gonnet).
double expected_maximum_counter(double n, double m, unsigned k);

// The largest j that at least half a counter is expected to reach: m P(c ≥ j) ≥ 1/2. The maximum is this or a
// neighbour; the asymptotic formula is still one or two above it at m = 10^6.
unsigned likely_maximum_counter(double n, double m, unsigned k);

// ---- Compression (Mitzenmacher 2002, II-B) -------------------------------------------------------------

// z = m H(p): the array as a message, by an optimal coder.
double compressed_bits(double n, double m, double k);

// γ(p) = p/ln(1−p) + (1−p)/ln p and β(p) = f^(n/z) = exp(−ln p ln(1−p)/H(p)) = 2^(1/γ). β is greatest at p =
// 1/2, the uncompressed optimum; γ → −1 and β → 1/2 at both ends, if only as fast as 1/ln p.
double gamma(double p);
double beta(double p);

// (1/2)^(z/n): the rate no compressed filter goes below.
double compressed_limit(double bits_per_item);

// The m/n whose message is z/n bits per item: (m/n) H(e^(−kn/m)) = z/n. The left side grows with m/n, so this
// is the largest array that fits; sparse (p ≥ 1/2) as long as k ≤ ln 2 · z/n, dense beyond. Figures 1 and 2
// are f(1, compressed_array_for(z, k), k). Infinite where m/n would be (k < z/1000 or so).
double compressed_array_for(double bits_per_item, double k);

// ---- Deltas (Mitzenmacher 2002, IV) --------------------------------------------------------------------

// q = 2p(1 − p^c): the density of the exclusive-or after a fraction c of the items has been replaced.
double delta_density(double p, double c);

// z = m H(q).
double delta_bits(double n, double m, double k, double c);

// β(p) = exp(−ln p ln(1−p)/H(q)); (1/2)^(1/2c) as p → 1, (1/2)^(1/2) as p → 0.
double delta_beta(double p, double c);

// (1/2)^(z/2cn): half the bits describe what left, half what came.
double delta_limit(double bits_per_item, double c);

// 2cn log2(1/ε) bits: the same limit for a given rate. As the array grows at that rate (p → 1) the delta
// shrinks to this: log2(1/ε) bits for each of the cn items that left and the cn that came.
double delta_limit_bits(double n, double rate, double c);

// ---- Sketches (Cormode & Muthukrishnan 2004) -----------------------------------------------------------

// An estimate is above the truth by more than εN with probability at most δ: δ = e^−d for d rows, ε = e·(1/w
// + 2^−32) for w counters per row, where the term in brackets is the probability that two keys share a
// counter (src/sketch/row_hash.hpp). And the fewest counters and rows that keep a given promise, infinite
// where none do.
double count_min_epsilon(double width);
double count_min_delta(unsigned depth);
double count_min_width(double epsilon);
double count_min_depth(double delta);

// The expected excess of an estimate with the plain rule, where the other keys have these frequencies: E min
// of d independent X = Σ f_j·[key j shares the counter], so Σ f_j/w for one row. X is taken as compound
// Poisson (each key 1/w times, instead of once with probability 1/w: a relative error of order 1/w) and its
// distribution computed by Panjer's recursion (1981), on whole numbers up to 2^14 and in proportion above. A
// fractional frequency is the mean of its two neighbours. Rounded up where the tail is cut, by less than 0.1
// %.
double count_min_error(std::span<const double> frequencies, double width, unsigned depth);

}  // namespace posy::theory
