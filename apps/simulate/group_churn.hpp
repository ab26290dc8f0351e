// Lookups in a network of groups whose nodes fail and come back a minute later, leaders among them.
//
// A lookup counts if its asker and the holder stay up until the answer; it succeeds if the holder answers
// within five minutes, after as many attempts as it takes. Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "group_world.hpp"
#include "outages.hpp"
#include "tally.hpp"

namespace posy::simulate {

class group_churn {
  public:
    group_churn(group_world& w, const options& o)
        : world_(w), options_(o), outages_(w.nodes().size() + 1, 1, o.churn) {}  // nodes count from one

    std::vector<figure> run(std::uint64_t queries);

  private:
    static constexpr std::uint64_t between_lookups = 180, longest_wait = 300'000;  // ms

    struct open_lookup {
        std::uint64_t object;
        node_id holder;  // 0: nobody
        std::uint64_t asked_at;
        std::uint32_t lives;  // of asker and holder, added
    };
    std::uint32_t lives_of(node_id asker, node_id holder) const;
    void pass_time(std::uint64_t);
    void ask(std::uint64_t number, bool existing);
    void ask_one(node_id by, node_id holder, std::uint64_t object);
    void collect();
    void judge(const overlay::lookup_answer&, const open_lookup&);
    double failure_rate() const { return options_.churn / 3'600'000; }  // of a node, per ms
    // Of a leader, in ms, as its group and as the askers of other groups know it.
    double repaired_for_members() const;
    double repaired_for_others() const;
    std::vector<figure> figures() const;

    group_world& world_;
    options options_;
    outages outages_;
    std::map<std::pair<node_id, std::uint32_t>, open_lookup> open_;  // by asker and number
    std::uint64_t leaders_failed_ = 0, asked_for_ = 0;               // ms
    tally success_, first_, denied_, wait_, absent_right_;
};

}  // namespace posy::simulate
