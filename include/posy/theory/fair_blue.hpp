// Stochastic Fair Blue (Feng et al. 2001; Broder & Mitzenmacher 2004, 7.2): who is punished by accident.
#pragma once

namespace posy::theory {

// [1 − (1 − 1/N)^M]^L: the probability that a flow shares its bin in every one of L levels of N bins with one
// of M flows that do not yield. Such a flow is punished until the hashes change.
double fair_blue_accident(unsigned levels, double bins, double unyielding);

}  // namespace posy::theory
