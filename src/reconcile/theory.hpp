// What each way of reconciling will find, and what it takes: pure functions.
//
// n elements, d of them in only one of two sets. A share found is the expectation, over hashes, of the part
// of the difference that is noticed.
#pragma once

#include <vector>

namespace posy::theory {

// ---- By coded symbols (Yang, Gilad and Alizadeh 2024) ----------------------------------------------------

// How many symbols it takes on average to find a difference of d elements, and the standard deviation, which
// is nearly √d. 1.352 d is the limit for large d (density evolution); the rest is a fit to simulations of d =
// 1 to 100,000 (coded_symbols.hpp), good to 4 % from 8 elements on.
double symbols_needed(double d);
double symbols_deviation(double d);

// How many to send first, when two sketches say that the difference is d: rather too few than too many, since
// asking for more costs a round trip and sending too many cannot be undone. The sketches are good to 18 %, so
// two thirds of the estimate are more than the truth once in 400 times.
double first_symbols(double d);

// How many there should be in all, when those that came say d. From 1,000 symbols it is known to 5 %, and
// this asks for a little more than that is likely to need: a larger margin would save few questions and cost
// the rest bytes.
double enough_symbols(double d, double have);

// ---- By a filter (Broder & Mitzenmacher 2004, 5.2) -------------------------------------------------------

// 1 − f: an element is missed when the filter takes it for a member.
double filter_found(double false_positive_rate);

// ---- By a reconciliation tree (Byers, Considine & Mitzenmacher 2002) -------------------------------------

// Nodes with at least `grain` elements in a trie of n random keys without one-way branches; n − 1 for a grain
// of 2. Level k has 2^k places with Poisson(n / 2^k) elements each; a node is there when both halves have
// some.
double tree_nodes(double n, unsigned grain);

// P(x such nodes above a leaf), at place x: of the n − 1 others, those that leave its way at level k are
// Poisson((n−1) / 2^(k+1)), independent of each other; there is a node where there are any, and it counts if
// with all that leave further down and the leaf itself they make `grain`.
std::vector<double> tree_path(double n, unsigned grain);

// The share of its own elements that a searcher finds whose trie has such paths, when the filter of nodes
// errs at `node_rate` and that of leaves at `leaf_rate`: P(no corrections + 1 nodes in a row on the way are
// taken for members) (1 − leaf_rate).
double tree_found(const std::vector<double>& path, unsigned corrections, double node_rate, double leaf_rate);

// The standard deviation of that share when `lacking` elements are looked for. A mistake hides all that is
// below it: two elements whose ways part after j nodes, which is so for 2^−j of all pairs, are lost together
// if the mistakes are among those.
double tree_found_deviation(const std::vector<double>& path, unsigned corrections, double node_rate,
                            double leaf_rate, double lacking);

}  // namespace posy::theory
