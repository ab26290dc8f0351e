// URLs whose answers could not be shared a short while ago: requests for them do not wait for each other.
//
// A table of fixed size, in which a URL has one place, by a secret hash: nobody can choose what is pushed
// out. A URL that was pushed out is only queued once more. Cost: a hash; 256 KB. Thread safety: all calls
// from any thread. Time is handed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "posy/secret_hash.hpp"

namespace posy::proxy {

class unshared {
  public:
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::minutes time{2};
    static constexpr std::size_t places = 16'384;

    void add(std::string_view url, time_point now) {
        const auto name = hash::by_secret{}(url);
        const std::lock_guard lock(mutex_);
        table_[name % places] = {name, now + time};
    }
    void remove(std::string_view url) {
        const auto name = hash::by_secret{}(url);
        const std::lock_guard lock(mutex_);
        auto& at = table_[name % places];
        if (at.name == name) at = {};
    }
    bool has(std::string_view url, time_point now) const {
        const auto name = hash::by_secret{}(url);
        const std::lock_guard lock(mutex_);
        const auto& at = table_[name % places];
        return at.name == name && now < at.until;
    }

  private:
    struct entry {
        std::size_t name = 0;
        time_point until{};
    };
    mutable std::mutex mutex_;
    std::vector<entry> table_ = std::vector<entry>(places);
};

}  // namespace posy::proxy
