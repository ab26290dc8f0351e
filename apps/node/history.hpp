// The recent past of every figure, for the page: a sample every few seconds, the oldest forgotten.
//
// It can be kept in a file, so that a restart does not empty the page. The file is replaced as a whole; what
// was kept is taken only if all of it makes sense, and a gap stands between it and the first new sample.
// Thread safety: all calls from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "metrics.hpp"
#include "posy/result.hpp"

namespace posy::node {

class history {
  public:
    static constexpr std::size_t length = 300;               // samples
    static constexpr unsigned spacing = 2;                   // seconds
    static constexpr std::size_t most_series = 4096;         // that are taken from a file
    static constexpr std::size_t most_bytes = 32 << 20;      // of one
    static constexpr std::uint64_t oldest_kept = 3'600'000;  // milliseconds before now

    void sample(std::uint64_t milliseconds, const metrics&);
    // {"at": [ms, …], "series": {"posy_set_items": [1, …], …}}; a figure that was not there is null.
    std::string json() const;

    // What json() said before, as far as it is not older than oldest_kept. If it is damaged, nothing is
    // taken.
    result<void> resume(std::string_view json, std::uint64_t now);
    // From and to a file. That there is none is not an error.
    result<void> load(const std::string& path, std::uint64_t now);
    result<void> save(const std::string& path) const;

  private:
    mutable std::mutex mutex_;
    std::deque<std::uint64_t> at_;
    std::map<std::string, std::deque<double>> series_;  // NaN: not there
};

}  // namespace posy::node
