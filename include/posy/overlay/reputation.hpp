// Is a peer's summary worth asking? The results of requests to a peer that its summary suggested are counted.
//
// Of N keys looked up, a summary with false-positive rate r gives at most Binomial(N, r) false hits; all
// further false hits mean a false or stale summary. A peer is rested when both hold:
//   - fewer than one in ten of the keys that it was asked for were there (a stale summary is still right
//     about most of them);
//   - more different keys were not there than r explains, with odds of 10^-12 against an honest summary.
//     Keys are counted once: a popular false positive adds no evidence the second time.
// The test runs at every false hit, over windows of at most a thousand answers and ten thousand lookups, so
// an honest peer is rested by chance in one of 10^9 windows. A rest takes a minute; each further one takes
// twice as long, up to 64 minutes.
//
// A state machine: time and the number of lookups are handed in. Thread safety: none. Memory: 8 KB at most.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_set>

namespace posy::overlay {

class reputation {
  public:
    using time = std::chrono::steady_clock::time_point;

    // The peer had the key.
    void hit();
    // It did not. `lookups`: total lookups of keys in its summary so far; `rate`: what the summary's bits
    // predict.
    void false_hit(std::uint64_t key, std::uint64_t lookups, double rate, time now);

    bool resting(time now) const { return now < rests_until_; }
    time rests_until() const { return rests_until_; }
    // How often it was rested.
    std::uint64_t rests() const { return rests_; }

    static constexpr std::chrono::minutes first_rest{1}, longest_rest{64};
    static constexpr std::size_t window = 1000;  // answers
    static constexpr std::uint64_t window_lookups = 10'000;

  private:
    bool absurd() const;
    void begin_window(std::uint64_t lookups);

    std::unordered_set<std::uint64_t> missing_;  // different keys that were not there
    std::uint64_t hits_ = 0;
    double expected_ = 0;                    // false hits, at most
    std::uint64_t began_ = 0, lookups_ = 0;  // when the window began, and at the last false hit
    double rate_ = 0;
    unsigned relapses_ = 0;
    std::uint64_t rests_ = 0;
    time rests_until_ = time::min();
};

// The number that a binomial variable of this mean exceeds with a probability below 10^-12 (Bernstein's
// bound).
double false_hits_beyond_chance(double mean);

}  // namespace posy::overlay
