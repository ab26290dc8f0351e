// Geographic routing over a square divided in four recursively (Hsiao 2001; Broder & Mitzenmacher 2004, 6.3).
//
// `rates` has the false-positive rate of a square's filter for each level, cells first; r_i is that of level
// i and L the number of levels. Host and asker are in cells drawn at random, independently. A station tests
// the filters of its three siblings at every level, from the cells up. Pure functions; O(L).
#pragma once

#include <span>

namespace posy::theory {

// V = Π (1 + 3 r_i) − 1: how many squares a search for an absent host visits. In a square of level i a
// visitor finds V_i = Σ_{j<i} 3 r_j (1 + V_j) more, each with what follows from it, so 1 + V_{i+1} = (1 +
// V_i)(1 + 3 r_i).
double geographic_absent_forwards(std::span<const double> rates);

// The squares visited in vain before a host that is there is found. Of the squares of level i around the
// searcher, the host is in a sibling with probability 3·4^(i−L). Then all V_i of the levels below come first,
// and on average one of the other two siblings: F_L = Σ_i 3·4^(i−L) (V_i + r_i (1 + V_i) + F_i).
double geographic_false_forwards(std::span<const double> rates);

// The squares visited on the way to the host, the last of them its cell or a square whose head has it: T_L =
// Σ_i 3·4^(i−L) (1 + T_i), which is 3L/4.
double geographic_true_forwards(unsigned levels);

// The probability that a step from a cell into one beside it leaves its square of level i: (2^(L−i) − 1)/(2^L
// − 1), the share of the lines between cells that are lines between squares. About 2^−i.
double geographic_crossing(unsigned level, unsigned levels);

}  // namespace posy::theory
