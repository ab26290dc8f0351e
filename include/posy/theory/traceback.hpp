// The way of a packet, from filters of the packets that routers saw (posy/packet/traceback.hpp): how many
// false branches to expect, and what the filters cost. Pure functions, as in posy/theory.hpp.
#pragma once

namespace posy::theory {

// The expected number of routers that are taken for a part of the way and are not. The way has d routers;
// every router has δ neighbours and says yes falsely with probability f, independently. Where the routers
// form a tree, (d(δ−2) + 2) neighbours of the way are asked, and behind each false yes δ−1 more: (d(δ−2) + 2)
// f / (1 − (δ−1)f). An upper bound where they do not; infinite if (δ−1)f ≥ 1.
double false_branches(double path, double degree, double rate);

// dp/(1−p) with p = δf, the looser bound of the paper (Snoeren et al. 2001), which asks all neighbours
// of every router again. Infinite if p ≥ 1.
double false_branches_bound(double path, double degree, double rate);

// The largest f with which at most this many false branches are expected: false_branches() solved for f.
double traceback_rate(double path, double degree, double branches);

// Bytes of the pages that a link fills in a time, with Bloom filters of rate f at their best:
// packets per second · seconds · log2 e · log2(1/f) / 8. Pages of few packets take more: see page_bytes().
double digest_bytes(double packets_per_second, double seconds, double rate);

// Bytes of one page: the fewest blocks of 64 bytes (posy/layout: blocked) whose rate with these packets and
// the best number of hashes is at most f. So a page has at least 64 bytes, however few the packets.
double page_bytes(double packets, double rate);

// The same as a share of the bytes that go over the link, for packets of a mean size: what a second of
// traffic takes, per byte of it. The paper's example, 0.5 %, is 5 bits for packets of 1000 bits.
double digest_share(double mean_packet_bytes, double rate);

}  // namespace posy::theory
