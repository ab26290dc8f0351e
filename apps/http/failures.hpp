// Names that failed lately, each remembered for a moment, and not more than a certain number of them.
// Cost: one pass over all when they are too many. Thread safety: none; the owner has a lock.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace posy::http {

class failures {
  public:
    using clock = std::chrono::steady_clock;
    failures(std::size_t most, clock::duration forget) : most_(most), forget_(forget) {}

    bool remembers(const std::string& name, clock::time_point now) const {
        const auto found = since_.find(name);
        return found != since_.end() && now - found->second < forget_;
    }

    // Where there is no room even without those that are to be forgotten, it is not remembered.
    void add(const std::string& name, clock::time_point now) {
        if (since_.size() >= most_)
            std::erase_if(since_, [&](const auto& each) { return now - each.second >= forget_; });
        if (since_.size() < most_) since_[name] = now;
    }

    std::size_t size() const { return since_.size(); }

  private:
    std::size_t most_;
    clock::duration forget_;
    std::map<std::string, clock::time_point> since_;
};

}  // namespace posy::http
