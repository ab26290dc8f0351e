// How many batches of letters a party may send: so many being read at a time, and so many per second.
//
// An honest node sends one batch, waits for its answer, and puts all that it has by then into the next. So
// little is enough for it, and a flood ends here. The number of parties is bounded; those that are forgotten
// were not being read. Time is handed in, in milliseconds. Thread safety: all calls from any thread.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "posy/overlay/allowance.hpp"

namespace posy::node {

class letter_gate {
  public:
    struct terms {
        unsigned at_a_time;
        double burst;
        std::uint64_t interval;  // ms per batch after the burst
        std::size_t most_parties = 4096;
    };
    explicit letter_gate(const terms& t) : terms_(t) {}

    // False: one too many. After true, leave() has to follow.
    bool enter(const std::string& party, std::uint64_t now) {
        const std::lock_guard lock(mutex_);
        if (parties_.size() >= terms_.most_parties && !parties_.contains(party))
            std::erase_if(parties_, [](const auto& each) { return each.second.inside == 0; });
        if (parties_.size() >= terms_.most_parties && !parties_.contains(party)) return false;
        auto& one = parties_.try_emplace(party, state{overlay::allowance(terms_.burst, terms_.interval)})
                        .first->second;
        if (one.inside >= terms_.at_a_time || !one.batches.take(now)) return false;
        ++one.inside;
        return true;
    }
    void leave(const std::string& party) {
        const std::lock_guard lock(mutex_);
        --parties_.at(party).inside;
    }

  private:
    struct state {
        overlay::allowance batches;
        unsigned inside = 0;
    };
    terms terms_;
    std::mutex mutex_;
    std::unordered_map<std::string, state> parties_;
};

}  // namespace posy::node
