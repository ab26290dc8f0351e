// Heavy flows: what a multistage filter lets pass (Estan & Varghese 2002, 4.2).
//
// Pure functions. A parallel filter of d stages with b counters each sees C bytes in an interval and passes
// flows whose counters all reach the threshold T. Its stage strength k = Tb/C is the threshold over the
// average counter. Conservative update and shielding only lower what passes, so these bounds hold for them
// too.
#pragma once

#include <cstdint>

namespace posy::theory {

// k = Tb/C. Below 1 a stage filters nothing.
double stage_strength(double threshold, double width, double traffic);

// The probability that a flow of s < T(1 − 1/k) bytes passes is at most (T / k(T − s))^d (Lemma 1): at most
// C/(T − s) of a stage's counters can hold T − s bytes of others. 1 where the lemma says nothing.
double multistage_pass_bound(double size, double threshold, double strength, unsigned stages);

// At least T(1 − d/k(d−1)) − y of a large flow's bytes come before it passes, on average, with packets of at
// most y bytes (Theorem 2). What is reported for it lies within T of the truth, and a flow that was kept from
// the interval before is counted exactly. 0 where that is negative, and for one stage.
double multistage_undetected(double threshold, double strength, unsigned stages, double largest_packet);

// Of n flows at most max(b/(k−1), n(n/(kn−b))^d) + n(n/(kn−b))^d pass on average (Theorem 3): the entries
// that the flow memory needs. n where that is less, or the filter too weak to say.
double multistage_entries(double flows, double width, double strength, unsigned stages);

}  // namespace posy::theory
