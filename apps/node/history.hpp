// The recent past of every figure, for the page: a sample every few seconds, the oldest forgotten.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "metrics.hpp"

namespace posy::node {

class history {
  public:
    static constexpr std::size_t length = 300;  // samples
    static constexpr unsigned spacing = 2;      // seconds

    void sample(std::uint64_t milliseconds, const metrics&);
    // {"at": [ms, …], "series": {"posy_set_items": [1, …], …}}; a figure that was not there is null.
    std::string json() const;

  private:
    mutable std::mutex mutex_;
    std::deque<std::uint64_t> at_;
    std::map<std::string, std::deque<double>> series_;  // NaN: not there
};

}  // namespace posy::node
