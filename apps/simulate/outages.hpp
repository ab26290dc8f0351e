// Nodes that fail at random times and come back a while later, in another life, with their objects.
//
// Failures are a Poisson process: a share of the nodes per hour, each node as likely as any other. The time
// is handed in; the same generator gives the same failures. Thread safety: none.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "places.hpp"

namespace posy::simulate {

class outages {
  public:
    static constexpr std::uint64_t down_time = 60'000;  // ms

    // Of the nodes from `first` on, of which there are `nodes` with those before it.
    outages(std::uint64_t nodes, std::uint64_t first, double churn_per_hour)
        : first_(first),
          states_(nodes),
          wait_(hour / (churn_per_hour * static_cast<double>(nodes - first))) {}

    // Failures begin now.
    void begin(std::uint64_t now, std::mt19937_64& random) { next_failure_ = now + draw(random); }

    // Passes the time until then: run(time) until each event, fail(node) and come_back(node) at it.
    template <class Run, class Fail, class Back>
    void pass(std::uint64_t then, std::mt19937_64& random, const Run& run, const Fail& fail,
              const Back& come_back) {
        for (;;) {
            const bool back = !down_.empty() && down_.front().second <= next_failure_;
            const std::uint64_t at = back ? down_.front().second : next_failure_;
            if (at > then) break;
            run(at);
            if (back) {
                const auto who = down_.front().first;
                down_.pop_front();
                states_[who] = {states_[who].lives, at, false};
                come_back(who);
                continue;
            }
            next_failure_ = at + draw(random);
            const overlay::node_id who = first_ + random() % (states_.size() - first_);
            if (states_[who].down) continue;
            states_[who] = {states_[who].lives + 1, at, true};
            down_.emplace_back(who, at + down_time);
            fail(who);
            ++failures_;
        }
        run(then);
    }

    bool is_down(overlay::node_id who) const { return states_[who].down; }
    // It came back less than `time` ago.
    bool is_back_since(overlay::node_id who, std::uint64_t now, std::uint64_t time) const {
        const state& s = states_[who];
        return s.lives > 0 && !s.down && now < s.since + time;
    }
    // How often it has failed: what was so in one life need not be so in the next.
    std::uint32_t lives(overlay::node_id who) const { return states_[who].lives; }
    std::uint64_t failures() const { return failures_; }

  private:
    static constexpr double hour = 3'600'000;
    struct state {
        std::uint32_t lives = 0;
        std::uint64_t since = 0;
        bool down = false;
    };
    std::uint64_t draw(std::mt19937_64& random) const {
        const double wait = -wait_ * std::log1p(-places::share(random));
        return wait < 1e15 ? 1 + static_cast<std::uint64_t>(wait) : std::uint64_t{1} << 60;
    }

    std::uint64_t first_;
    std::vector<state> states_;
    double wait_;  // ms between two failures, in the mean; infinite without churn
    std::uint64_t next_failure_ = ~std::uint64_t{0}, failures_ = 0;
    std::deque<std::pair<overlay::node_id, std::uint64_t>> down_;  // and until when
};

}  // namespace posy::simulate
