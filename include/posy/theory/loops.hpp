// Loops found by a filter in the packet (posy/packet/loop_filter.hpp): how often a way without a loop is
// mistaken for one. Pure functions, as in posy/theory.hpp.
#pragma once

namespace posy::theory {

// The odds that a packet is stopped on a way of h different nodes, where each node's mask is k different bits
// of m, all such sets equally likely (Whitaker and Wetherall 2002). Exact: the number of ones is a Markov
// chain, x → x + j with probability C(m−x, j) C(x, k−j) / C(m, k), and j = 0 stops the packet. All terms are
// positive, so small odds keep their digits. The first node never stops it. O(h m k); NaN unless 1 ≤ k ≤ m.
double false_loop_odds(unsigned hops, unsigned bits, unsigned mask_bits);

// The k with the least odds for ways of this length, the smaller of two equals. It is larger than ln 2 · m/h,
// the best for a packet that has been to h nodes: most nodes of the way see a filter that is emptier.
unsigned best_mask_bits(unsigned hops, unsigned bits);

// The fewest bits, in whole bytes, with which the odds are at most these; 0 if 512 are too few.
unsigned loop_filter_bits(unsigned hops, double odds);

}  // namespace posy::theory
