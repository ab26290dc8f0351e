// How news spreads through a gossip mesh (posy/overlay/gossip_node.hpp), and what it costs.
//
// Rumour mongering by push and pull with feedback and a counter (Demers et al. 1987, 1.4), for contacts that
// are a Poisson process: each node begins one exchange per round. Pure functions; thread-safe.
#pragma once

namespace posy::theory {

struct gossip_model {
    double nodes = 0;
    unsigned patience = 4;      // a node stops mentioning a rumour after so many contacts that knew it
    unsigned tries = 3;         // of a greeting
    double compare_every = 10;  // rounds; 0: rumours alone
    double loss = 0;            // of messages
    double hop = 0;             // the time of a message, in rounds
    double wasted = 0;          // share of the greetings that go to nodes that are gone
    bool at_once = true;        // the first contact is made when the news arises, not a round later
};

// The course of one rumour.
struct gossip_course {
    double rounds = 0, deviation = 0;   // until the share of the nodes knows
    double residue = 0;                 // the share that no rumour reaches, and that comparing must
    double greetings = 0, replies = 0;  // how often a node mentions it in these
    double disagreement = 0;  // rounds × the share of pairs of which one knows and the other does not
};

// With i(t) the share of the nodes that spread the rumour and s(t) that of those that do not know it, and c
// the exchanges per round that succeed (2 without loss and waste: one begun, one received),
//     ds/dt = −c s i − 2 s (1−s−i)/compare_every,
// a node that spreads it meets knowing contacts at the rate (1−s) + i, and patience is the number of these
// meetings; whoever hears of it has it three or four messages later.
//
// The time T until a share of the nodes knows is a matter of chance at both ends. The few first nodes are a
// birth process: from j nodes there are W e^(ct) after a while, W ~ Gamma(j), so that all that follows comes
// later by τ = ln(E W/W)/c than in the equations. The first contact succeeds with probability p, so j is 2
// with probability p, else 1, and
//     P(τ > x) = 1 − e^(−w) (1 + p w),    w = (1 + p) e^(−cx).
// At the end each of the last nodes hears of it on its own, from spreaders that grow tired: those that do not
// know are Binomial(n, s(t − τ)), and T > t while they are more than the share leaves out. Together
//     P(T > t) = E_τ P(Binomial(n, s(t − τ)) > n − ⌈share·n⌉),
// of which `rounds` and `deviation` are the mean and the deviation. Both tails are exponential, the second
// the heavier: when nobody spreads it any more, 2/compare_every per round are left. So a deviation says
// little about the slowest of many changes.
gossip_course gossip_spread(const gossip_model&, double share);

// The rounds within which all of so many changes are known to the share of the nodes, except with
// probability `odds`: the t with P(T > t) = 1 − (1 − odds)^(1/changes). Infinite where rumours alone may end
// too soon.
double gossip_slowest(const gossip_model&, double share, double changes, double odds);

// Bytes that a node sends.
struct gossip_load {
    double rounds = 0;               // per hour
    double greeting = 0, reply = 0;  // bytes without news
    double version = 0;              // bytes of one mention
    double rumours = 0;              // changes per hour in the whole mesh, those of standing among them
    double fetched = 0;              // bytes per hour that each node asks for and that are sent to it
    double hash = 8, parts = 257;    // bytes, of a greeting that compares and of its answer if it differs
    double part_count = 32;
};

// rounds · (greeting + reply) + rumours · version · (mentions) + fetched, and for each comparison the hash
// and, if something is on its way that one of the two does not know — with probability 1 − e^−d, d the
// disagreement of all rumours of the time — the hashes of the parts, and the versions of the parts that
// differ, of which there are 1 + d in the mean.
double gossip_bytes_per_hour(const gossip_model&, const gossip_course&, const gossip_load&);

}  // namespace posy::theory
