// When the last letters of each sender were sealed: a batch is taken once, and none that is older than one
// that was taken.
//
// A sender seals each batch later than the one before. So whoever records a batch, such as a farewell, and
// sends it again while its seal is valid changes nothing. What is forgotten is no longer valid, and a node
// that starts anew has learnt the time of a sender by the letter that made the two neighbours. Memory: one
// time for each sender within the validity of a seal, and a bounded number of them. Thread safety: all calls
// from any thread.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "letter_seal.hpp"

namespace posy::node {

class seal_times {
  public:
    explicit seal_times(std::size_t most_senders = 65'536) : most_(most_senders) {}

    // False: it is not newer than the last, or there is no room for another sender.
    bool take(const std::string& sender, const letter_seal& seal, std::uint64_t now) {
        const std::lock_guard lock(mutex_);
        if (const auto last = times_.find(sender); last != times_.end()) {
            if (seal.time <= last->second) return false;
            last->second = seal.time;
            return true;
        }
        if (times_.size() >= most_)
            std::erase_if(times_,
                          [&](const auto& each) { return each.second + letter_seal::validity <= now; });
        return times_.size() < most_ && times_.emplace(sender, seal.time).second;
    }

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::uint64_t> times_;
};

}  // namespace posy::node
