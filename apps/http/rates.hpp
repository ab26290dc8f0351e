// How often each party asks: a bucket of tokens per address, refilled at the allowed rate.
//
// A bucket holds what comes in two seconds, at least one token, so a party that was silent for as long as it
// takes to fill has a full one, and forgetting it changes nothing. Their number is bounded; beyond it, the
// least recently used is forgotten. Cost: O(log n). Thread safety: all calls from any thread. Time is handed
// in.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <mutex>

#include "crowd.hpp"

namespace posy::http {

class rates {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    // 0: no limit.
    explicit rates(double per_second, std::size_t most_parties = 65'536)
        : rate_(per_second), most_(most_parties) {}

    void limit(double per_second) { rate_ = per_second; }
    // A request from this address; false: one too many.
    bool take(const address& who, time_point now) {
        const double rate = rate_;
        if (rate <= 0) return true;
        const double full = std::max(2 * rate, 1.0);
        const std::lock_guard lock(mutex_);
        const auto party = crowd::party_of(who);
        auto found = by_party_.find(party);
        if (found == by_party_.end()) {
            if (recent_.size() >= most_) {
                by_party_.erase(recent_.front().party);
                recent_.pop_front();
            }
            recent_.push_back({party, full, now});
            found = by_party_.emplace(party, std::prev(recent_.end())).first;
        }
        recent_.splice(recent_.end(), recent_, found->second);
        auto& [of, tokens, at] = *found->second;
        tokens = std::min(full, tokens + std::chrono::duration<double>(now - at).count() * rate);
        at = now;
        if (tokens < 1) return false;
        tokens -= 1;
        return true;
    }

  private:
    struct bucket {
        address party;
        double tokens;
        time_point at;
    };
    std::atomic<double> rate_;
    std::size_t most_;
    std::mutex mutex_;
    std::list<bucket> recent_;  // the least recent first
    std::map<address, std::list<bucket>::iterator> by_party_;
};

}  // namespace posy::http
