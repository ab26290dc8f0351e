// What became of the last letters to each address.
//
// The number of addresses is bounded: when there are too many, those that were reached are forgotten, and
// then no more are noted. Thread safety: all calls from any thread.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace posy::node {

enum class reach { unknown, reached, refusing, unreachable };

class reach_book {
  public:
    explicit reach_book(std::size_t most = 4096) : most_(most) {}

    // What it was before.
    reach note(const std::string& address, reach now) {
        const std::lock_guard lock(mutex_);
        if (const auto known = last_.find(address); known != last_.end())
            return std::exchange(known->second, now);
        if (last_.size() >= most_)
            std::erase_if(last_, [](const auto& each) { return each.second == reach::reached; });
        if (last_.size() < most_) last_.emplace(address, now);
        return reach::unknown;
    }
    reach of(const std::string& address) const {
        const std::lock_guard lock(mutex_);
        const auto known = last_.find(address);
        return known == last_.end() ? reach::unknown : known->second;
    }

  private:
    std::size_t most_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, reach> last_;
};

}  // namespace posy::node
