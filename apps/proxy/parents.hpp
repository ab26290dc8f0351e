// The proxies that misses go through, if there are any: tried in the order given, one that failed last of
// all for a while.
//
// Thread safety: all calls from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "http/message.hpp"
#include "http/timekeeper.hpp"

namespace posy::proxy {

class parents {
  public:
    static constexpr std::chrono::seconds rest{10};  // of one that failed

    explicit parents(std::vector<http::url> all)
        : all_(std::move(all)), rests_until_(std::make_unique<moment[]>(all_.size())) {}

    bool any() const { return !all_.empty(); }
    const http::url& at(std::size_t number) const { return all_[number]; }
    // All of them, in the order in which they are to be tried.
    std::vector<std::size_t> in_order(http::clock::time_point now) const {
        std::vector<std::size_t> order(all_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_partition(order, [&](std::size_t i) { return rests_until_[i].load() <= now; });
        return order;
    }
    // Returns whether that is news: it had worked until now, or had failed.
    bool failed(std::size_t number, http::clock::time_point now) {
        return rests_until_[number].exchange(now + rest) == never;
    }
    bool worked(std::size_t number) {
        auto& until = rests_until_[number];
        return until.load() != never && until.exchange(never) != never;
    }

  private:
    static constexpr auto never = http::clock::time_point::min();
    struct moment : std::atomic<http::clock::time_point> {
        moment() : atomic(never) {}
        using atomic::operator=;
    };
    std::vector<http::url> all_;
    std::unique_ptr<moment[]> rests_until_;
};

}  // namespace posy::proxy
