// What the clients of one rule have used of its limits.
//
// Requests per second are a bucket that holds what comes in two seconds, at least one. Bytes are counted when
// a request ends, by the day (UTC) on which it does: what a client may have, it may exceed by what is under
// way. Clients are remembered up to a number; beyond it, the least recently used of those with nothing under
// way is forgotten, with what it had used. Cost: O(log n). Thread safety: all calls from any thread. Time is
// handed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "rules.hpp"

namespace posy::proxy {

class rule_usage {
  public:
    using time_point = std::chrono::steady_clock::time_point;
    struct moment {
        time_point now;
        std::int64_t seconds = 0;  // since 1970
    };
    // Why a request has to wait, and for how many seconds.
    struct excess {
        std::string why;
        std::int64_t retry = 1;
    };

    explicit rule_usage(const rule_limits& limits, std::size_t most_clients = 65'536)
        : limits_(limits), most_(most_clients) {}

    // A request begins, unless it exceeds something; then it is not counted.
    std::optional<excess> enter(const std::string& client, const moment&);
    // One that began has ended, and took so many bytes.
    void leave(const std::string& client, std::uint64_t bytes, const moment&);
    std::size_t clients() const;

  private:
    struct meter {
        double tokens = 0;
        time_point at{};
        std::uint64_t under_way = 0;
        std::int64_t day = 0;
        std::uint64_t bytes = 0;  // of that day
    };
    struct most {  // of one client, or of all
        double rate;
        std::uint64_t connections, quota;
        const char* whose;
    };
    struct party {
        std::string name;
        meter used;
    };
    static std::optional<excess> over(meter&, const most&, const moment&);
    meter& meter_of(const std::string& client, const moment&);

    rule_limits limits_;
    std::size_t most_;
    mutable std::mutex mutex_;
    std::optional<meter> all_;
    std::list<party> recent_;  // the least recent first
    std::map<std::string, std::list<party>::iterator> by_name_;
};

}  // namespace posy::proxy
