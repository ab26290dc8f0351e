// The mathematics of routing by filters (Broder & Mitzenmacher 2004, 6): how often a request goes the wrong
// way, and what a change costs. Pure functions; filters have m bits and k hashes spread over all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace posy::theory {

// ---- Changed bits as a message -------------------------------------------------------------------------

// j random positions among m in Rice's code: each costs r + 1 bits and ⌊gap/2^r⌋ more, where P(gap ≥ x) =
// C(m − x, j)/C(m, j), so j (r + 1 + Σ_i P(gap ≥ i·2^r)) bits, with r = ⌊log2(ln 2 · m/j)⌋, or 0 if that is
// negative.
double coded_positions_bits(double m, double j);

// A message of j of them: `header` bytes, and whole bytes of code. Half a byte is lost on average.
double coded_positions_bytes(double m, double j, double header);

// One object comes or goes in a set of n others that a neighbour follows by changed bits: of its k bits each
// is not another's with probability e^(−kn/m), so j ~ Binomial(k, e^(−kn/m)) are sent, and nothing if there
// are none. `header` and `reply` are bytes per message.
double change_bytes(double n, double m, unsigned k, double header, double reply);

// ---- Trees (6.1) ---------------------------------------------------------------------------------------

// A tree by its nodes' parents, all of which come before their children; the root is 0 and its own parent.
class tree_shape {
  public:
    tree_shape(std::vector<std::uint32_t> parents, std::vector<double> objects_of_each);

    std::size_t size() const { return parents_.size(); }
    std::uint32_t parent(std::uint32_t node) const { return parents_[node]; }
    const std::vector<std::uint32_t>& children(std::uint32_t node) const { return children_[node]; }
    // Of a node and all below it.
    double objects_below(std::uint32_t node) const { return below_[node]; }
    // The node, its parent … the root.
    std::vector<std::uint32_t> way_up(std::uint32_t node) const;

  private:
    std::vector<std::uint32_t> parents_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<double> below_;
};

// F(c) = Σ f(n_d) over c and all nodes d below it, f the rate of a filter of the n_d objects below d: how
// many nodes in the branch c see a request that is not for it. The filter of a node contains those below it,
// so whoever says yes to a request is reached through others that do: the probabilities add up exactly.
std::vector<double> false_forwards_into(const tree_shape&, double m, unsigned k);

// The expected number of wrong turns of a request from `asker` to the only holder: Σ F(c) over the branches c
// at the nodes below the highest one of the way, where every branch that says yes is tried before the request
// goes up; and half of it over the branches from the highest node to the holder, because branches are tried
// in random order and the right one ends it.
double false_forwards(const tree_shape&, std::span<const double> into, std::uint32_t asker,
                      std::uint32_t holder);

// The same for an object that does not exist: all branches of the way to the root.
double false_forwards_of_absent(const tree_shape&, std::span<const double> into, std::uint32_t asker);

// Expected bytes on all links from a node to the root when one of its objects comes or goes.
double tree_change_bytes(const tree_shape&, std::uint32_t node, double m, unsigned k, double header,
                         double reply);

// ---- Ways through nodes that fail ----------------------------------------------------------------------

// Every node fails at `rate`, and takes part again after a time of `outage` in the mean, in which a request
// that comes to it is lost. So it is out for u = rate·outage/(1 + rate·outage) of the time, and a way through
// n such nodes is open with probability (1 − u)^n.
double open_way_probability(double rate, double outage, double nodes);

// A request that met an outage is asked again every `patience`: the outage lasts for another E[L²]/(2 E[L])
// in the mean, L its length (whoever meets one meets a long one), and half of a patience passes before the
// next question. Here L = down + U(0, repair). On a way that is shut with probability `shut`, another outage
// may have begun when this one ends, and so on: the first part is 1/(1 − shut) times as long.
double wait_for_repair(double down, double repair, double patience, double shut = 0);

// Two nodes that were both told something, at most a period R ago, have both failed since: E (1 − e^(−λa))²
// for a uniform in 0..R, about (λR)²/3.
double both_failed_probability(double rate, double period);
// The variance of the share of a time, of that many periods, in which a pair is like that: in each period
// with probability (λR)² from the later failure on, so E F² = (λR)²/6.
double both_failed_variance(double rate, double period, double periods);

// ---- Attenuated filters (6.2) --------------------------------------------------------------------------

// A node with g neighbours; level i of an array has the rate f_i, and there are d levels. A request for an
// object that is nowhere near goes on with probability q_l = 1 − (1 − f_l)^e at the lowest level l of its e
// ways on (g at first, then g − 1), never farther than d hops: the expected number of its hops. Behind a
// wrong yes at level l > 0 there is another at level l − 1 with probability 1 − (1 − f_{l−1}/f_l)^(g−1): what
// said yes there is a part of what said it here.
double attenuated_false_forwards(std::span<const double> rates, unsigned degree);

// The probability that a request for the only copy near by, `distance` hops away, goes astray: a wrong yes at
// a lower level on any way, or at the same level on another way, which is then tried first in B of 1 + B
// cases: Π over the steps of Π_l (1 − f_l)^e · (1 − (1 − f)^e)/(e f), from 1.
double attenuated_straying(std::span<const double> rates, unsigned degree, unsigned distance);

// Expected bytes when one object comes or goes: level i of it is sent over g (g − 1)^i links, of arrays whose
// level i has n_i objects.
double attenuated_change_bytes(std::span<const double> objects, unsigned degree, double m, unsigned k,
                               double header, double reply);

// 1 − (1 − v/N)^c: one of c copies at random nodes is among v of N nodes.
double near_copy_probability(double near, double nodes, double copies);

// ½ log2 N hops to the node before the home on a ring of N nodes with fingers (Stoica et al. 2001, IV), and
// one more: asymptotically.
double ring_hops(double nodes);

}  // namespace posy::theory
