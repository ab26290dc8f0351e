// Throws that fall into groups at random: the probability that some group goes wrong.
//
// Of L groups that share N throws, one with x of them goes wrong with probability b(x), whatever the others
// do; b(x) = [x ≥ j] is "some counter reaches j". All go well with probability
//
//   N!/L^N · [z^N] (Σ_x (1 − b(x)) z^x/x!)^L
//
// and the answer is one minus that, with all its digits however small it is:
//
//   by the mean     loads are negatively associated (Joag-Dev and Proschan 1983), and b grows with the load,
//                   so 1 − (1 − E b)^L ≤ P ≤ L·E b. Where the upper end is below 3e-5 the lower one is taken:
//                   wrong by less than 1.5e-5 of it
//   to the digit    up to 512 throws the power series is multiplied out; all its terms are positive
//   by saddle point beyond, with the first correction (Daniels 1954): wrong by about 1e-9 at 512 throws and
//                   by less the more there are, so by less than 1e-4 of it where it is smallest, at 3e-5
#pragma once

#include <cstdint>
#include <vector>

namespace posy::theory {

// b(x) for x = 0 … size − 1, never falling; more throws go wrong for certain.
using faults = std::vector<double>;

// P(some group goes wrong). `groups` is a whole number of at least 1.
double any_fault(double throws, double groups, const faults&);

// The same for `least` to `most` throws, each at its own place; before them are zeros.
std::vector<double> any_fault_from(unsigned least, unsigned most, double groups, const faults&);

}  // namespace posy::theory
