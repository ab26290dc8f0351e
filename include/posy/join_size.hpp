// How many rows a join will have, from a Count-Min sketch of each side's keys: Σ f(x)·g(x) over all keys x,
// where f and g say how often x occurs on the two sides (Cormode and Muthukrishnan 2004, inner products).
//
// The inner product of two rows of counters has every pair of occurrences of equal keys, and of each other
// pair a share of 1/width. So it is never below the truth; and what chance adds to it is known on average:
//
//   estimate = (width · inner − N·M) / (width − 1),   N and M the totals,
//
// the mean over the rows. Its variance is at most (F₂·G₂ + J²) / (width − 1) / depth, where F₂ = Σ f² and G₂
// are estimated in the same way from each sketch with itself, and J is the estimate: the interval is made
// from that.
//
// Cost: one pass over both tables. Thread safety: only reads.
#pragma once

#include "posy/count_min.hpp"
#include "posy/estimate.hpp"

namespace posy {

// An interval that holds the truth with probability `level`; its upper end is never above what the tables
// prove. The sketches must be of one shape and hash, of the plain rule (the conservative one has no known
// mean), have rows of two counters or more, and no counter that has reached its largest value.
result<estimate> join_size(const count_min& a, const count_min& b, double level = 0.95);

}  // namespace posy
