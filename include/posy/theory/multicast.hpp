// Multicast by a filter per interface (Grönvall 2001; Broder & Mitzenmacher 2004, 7.3), in a tree of routers
// with b interfaces downstream each, and d levels of routers; the lowest are those of the hosts.
//
// `rates` has the false-positive rate of an interface's filter by the level of its router, the root first.
#pragma once

#include <span>

namespace posy::theory {

// S = Σ_i Π_{j≤i} b r_j: the packets that a router sends downstream in vain for a group that nobody below has
// joined, with those that the routers below send on. A branching process: S_i = b r_i (1 + S_{i+1}).
double multicast_vain_packets(double branches, std::span<const double> rates);

// The same for a packet that reaches `routers[i]` routers of level i rightly and leaves them on `used[i]`
// interfaces: each other interface errs with probability r_i, and then S_{i+1} more follow:
// Σ_i (b·routers_i − used_i) r_i (1 + S_{i+1}).
double multicast_vain_packets(double branches, std::span<const double> rates, std::span<const double> routers,
                              std::span<const double> used);

}  // namespace posy::theory
