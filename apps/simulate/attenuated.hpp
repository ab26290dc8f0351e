// The simulation of nodes with attenuated filters: attenuated.cpp runs it, attenuated_report.cpp says what it
// found beside theory.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "copies.hpp"
#include "network.hpp"
#include "outages.hpp"
#include "places.hpp"
#include "posy/overlay/attenuated_node.hpp"
#include "posy/theory/routing.hpp"
#include "report.hpp"
#include "tally.hpp"

namespace posy::simulate::attenuated {

using overlay::attenuated_kind;
using overlay::attenuated_node;
using overlay::outbox;

constexpr unsigned degree = 4, depth = 3, hashes = 4;
constexpr double bits_per_object = 8;  // of the last level
constexpr double most_copies = 0.1;    // of the nodes have the object of rank 1
constexpr double header = 14 + depth,
                 reply = 9;  // bytes of an update beside its positions, and of its answer

constexpr std::uint64_t longest_wait = 300'000;  // ms for a lookup, with churn

inline digest key_of(std::uint64_t object) { return hasher()(object); }

class attenuated_run {
  public:
    explicit attenuated_run(const options& o)
        : nodes_(number_of("--nodes", o.nodes, 10'000, 8)),
          objects_(number_of("--objects", o.objects, 1'000'000, 1)),
          queries_(number_of("--queries", o.queries, 100'000, 1)),
          options_(o),
          random_(o.seed),
          places_(nodes_, random_),
          world_(nodes_, objects_, degree, most_copies * static_cast<double>(nodes_), random_),
          outages_(nodes_, 0, o.churn),
          net_({.latency = [this](node_id a, node_id b) { return places_.latency(a, b); }, .loss = o.loss},
               o.seed) {}

    report run();

  private:
    struct query {
        node_id by;
        std::uint64_t object;
        unsigned distance;  // to the nearest copy; 0 if it is here or not known
        std::uint32_t lives = 0;
    };
    using open_lookups = std::map<std::pair<node_id, std::uint32_t>, query>;  // by asker and number
    struct outcome {
        tally success, hops, stretch, first, denied;  // found at once; said to be absent
        double by_filter = 0, gave_up = 0;            // per lookup
        double bytes = 0;                             // per lookup
        // For the error of `denied`: Σ w² over the homes, w the share of the lookups that each has, and the
        // time that they took, in times of republishing.
        double clumping = 0, periods = 0;
        std::uint64_t asked = 0;
    };

    overlay::attenuated_settings settings() const;
    void join(node_id);
    void build();
    void pass_time(std::uint64_t);
    std::uint32_t lives_of(const query&) const;
    bool exists(std::uint64_t object);
    query draw_query();
    outcome ask(const std::vector<query>&);
    double clumping_at_homes(const std::vector<query>&) const;
    void collect(open_lookups&, outcome&);
    attenuated_node::counters counted();
    void predict();
    // The nodes within depth, where no two ways meet.
    static double around() {
        double sum = 1, ring = degree;
        for (unsigned i = 0; i < depth; ++i, ring *= degree - 1) sum += ring;
        return sum;
    }
    void change_one();
    double whole_bytes(node_id from);
    std::uint64_t update_bytes() const;
    plot found_by_copies() const;
    void add_changes(std::vector<figure>&) const;
    void add_churn(report&, const outcome& near, const outcome& far) const;
    double failure_rate() const { return options_.churn / 3'600'000; }  // of a node, per ms
    // Of a lookup that ends at the home, with churn.
    double denied_expected() const {
        return theory::both_failed_probability(failure_rate(), static_cast<double>(settings().republish));
    }
    std::vector<figure> figures(const outcome& near, const outcome& far, const outcome& absent) const;

    std::uint64_t nodes_, objects_, queries_;
    options options_;
    std::mt19937_64 random_;
    places places_;
    copies world_;
    outages outages_;
    network<attenuated_node> net_;

    std::vector<node_id> members_;
    std::uint32_t life_ = 0;

    std::vector<double> rates_, sizes_;  // by level, predicted
    tally near_expected_, stray_expected_;
    std::map<std::size_t, tally> near_by_copies_;  // how often a copy is within depth, by the logarithm
    tally change_bytes_, whole_bytes_;
};

}  // namespace posy::simulate::attenuated
