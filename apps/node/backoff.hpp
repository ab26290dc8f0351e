// How long to leave a server alone that has failed: half a second, one, two, … up to 16, each shortened at
// random by up to a half, so that clients of the same server do not fall into step.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace posy::node {

class backoff {
  public:
    static constexpr std::chrono::milliseconds first{500};
    static constexpr unsigned max_doublings = 5;

    // Failures in a row so far.
    unsigned failures() const { return failures_; }
    void succeeded() { failures_ = 0; }
    std::chrono::milliseconds failed() {
        const double share = 0.5 + 0.5 * std::uniform_real_distribution<>()(random_);
        const auto pause = first * (1U << std::min(failures_++, max_doublings)) * share;
        return std::chrono::duration_cast<std::chrono::milliseconds>(pause);
    }

  private:
    unsigned failures_ = 0;
    std::minstd_rand random_{std::random_device{}()};
};

}  // namespace posy::node
