// How long requests took: a histogram for Prometheus.
//
// A duration is counted in the first bucket whose bound it does not exceed; what is read is cumulative, as
// Prometheus wants it. Bounds are fixed, so histograms of several proxies can be added up. Cost: two relaxed
// additions per request, no lock. A reader may see a duration in the buckets and not yet in the sum; the
// count is that of the buckets, so those two always agree. Time is handed in. Thread safety: all calls from
// any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace posy::node {

class durations {
  public:
    // In seconds: from an answer out of memory to one that an origin takes its time for.
    static constexpr std::array bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                       0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0};

    void add(std::chrono::nanoseconds took) {
        took = std::max(took, std::chrono::nanoseconds(0));
        const double seconds = std::chrono::duration<double>(took).count();
        const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
        counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
        nanoseconds_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
    }

    struct reading {
        std::array<std::uint64_t, bounds.size() + 1> up_to{};  // each bound; the last has none
        double seconds = 0;                                    // all together
        std::uint64_t count() const { return up_to.back(); }
    };
    reading read() const {
        reading now;
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            now.up_to[i] = below += counts_[i].load(std::memory_order_relaxed);
        now.seconds = static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) / 1e9;
        return now;
    }

  private:
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts_{};
    std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace posy::node
