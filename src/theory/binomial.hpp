// Binomial coefficients and weights that keep their digits from ten trials to 10^18.
#pragma once

namespace posy::theory {

// ln Γ(x) for x > 0. Not std::lgamma, which writes the global `signgam` and so is not thread-safe.
double log_gamma(double x);

// ln C(n, x); −∞ outside 0..n. n need not be whole.
double log_binomial(double n, double x);

// C(n,x) p^x (1−p)^(n−x).
double binomial_weight(double x, double n, double p);

}  // namespace posy::theory
