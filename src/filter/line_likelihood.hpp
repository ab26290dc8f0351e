// Maximum likelihood for the number of items of a filter whose keys each touch one line of bits.
//
// Observed: how many lines have y ones. Unknown: how many keys x each line got; a priori they are Poisson(λ).
// Given x, the ones of a line form a Markov chain over its keys, so P(y | x) is a table made once. The
// likelihood of λ is then maximised by its fixed point λ = mean over the lines of E[x | y, λ]
// (Dempster, Laird and Rubin 1977).
//
// The interval is for the number of keys, which is fixed, not for λ: with V = Σ Var(x | y) over the lines and
// φ = V / n the share of information that the collisions took away, Var(n̂ − n) = V / (1 − φ). The spread of
// the Poisson prior itself cancels (docs/maths.md).
#pragma once

#include <span>

namespace posy {

struct line_estimate {
    double items = 0;     // infinite when the likelihood has no maximum: too many lines are full
    double variance = 0;  // of the estimate around the true number
};

// histogram[y] lines have y ones, y = 0 … bits per line; a key sets d different bits of its line with
// probability distinct[d].
line_estimate estimate_from_lines(std::span<const double> histogram, std::span<const double> distinct);

}  // namespace posy
