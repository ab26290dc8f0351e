#include "posy/overlay/reputation.hpp"

#include <algorithm>
#include <cmath>

namespace posy::overlay {

// P(X >= mean + t) <= exp(-t^2 / (2 (mean + t/3))), solved for t where the right side is 10^-12.
double false_hits_beyond_chance(double mean) {
    const double odds = std::log(1e12);
    return mean + odds / 3 + std::sqrt(odds * odds / 9 + 2 * odds * mean);
}

void reputation::hit() { ++hits_; }

void reputation::false_hit(std::uint64_t key, std::uint64_t lookups, double rate, time now) {
    if (lookups > began_ + window_lookups) begin_window(lookups);
    // The summary may have changed since the last false hit: the higher of the two rates is used.
    if (lookups > lookups_) expected_ += static_cast<double>(lookups - lookups_) * std::max(rate, rate_);
    lookups_ = lookups;
    rate_ = rate;
    missing_.insert(key);
    if (resting(now)) return;
    if (absurd()) {
        const auto doubled = first_rest * (1U << std::min(relapses_++, 6U));
        rests_until_ = now + std::min<std::chrono::steady_clock::duration>(doubled, longest_rest);
        ++rests_;
        begin_window(lookups);
    } else if (missing_.size() + hits_ >= window) {
        relapses_ = 0;
        begin_window(lookups);
    }
}

bool reputation::absurd() const {
    const auto missing = static_cast<double>(missing_.size());
    return static_cast<double>(hits_) * 10 < missing + static_cast<double>(hits_) &&
           missing > false_hits_beyond_chance(expected_);
}

void reputation::begin_window(std::uint64_t lookups) {
    began_ = lookups_ = lookups;
    missing_.clear();
    hits_ = 0;
    expected_ = 0;
}

}  // namespace posy::overlay
