// The mathematics of routing by filters (Broder & Mitzenmacher 2004, 6): how often a request goes the wrong
// way, and what a change costs. Pure functions; filters have m bits and k hashes spread over all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace posy::theory {

// ---- Changed bits as a message -------------------------------------------------------------------------

// j random positions among m in Rice's code: each costs r + 1 bits and ⌊gap/2^r⌋ more, where P(gap ≥ x) =
// (1 − x/m)^j: j (r + 1 + Σ_i (1 − i·2^r/m)^j) bits, with r = ⌊log2(ln 2 · m/j)⌋, or 0 if that is negative.
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

}  // namespace posy::theory
