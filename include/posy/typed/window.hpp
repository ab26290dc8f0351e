// A window filter of keys, "seen lately?": a set whose keys expire after a time (posy/window_filter.hpp).
//
//   posy::typed::window<std::string> lately(1'000'000, 0.001, 24h);  // items in a window, rate, its length
//   lately.insert(name, std::chrono::system_clock::now());
//   if (lately.may_contain(other, std::chrono::system_clock::now())) …
//
// A key is remembered for at least a window after it was last inserted, and for less than a window and one
// part in `generations` more. Time is handed in, as time points of Clock, and never runs backwards.
//
// The filter counts microseconds since the epoch of the clock, as the tool's `posy seen` does; times before
// the epoch count as the epoch. So files of std::chrono::system_clock mean the same to everybody; those of
// another clock only to those who share it.
//
// Thread safety: none; const calls may run together.
#pragma once

#include <chrono>

#include "posy/typed/keyed.hpp"
#include "posy/window_filter.hpp"

namespace posy::typed {

template <>
struct blank<window_filter> {
    static blank of(const window_filter& f) {
        return {f.geometry(), f.planned(), f.remembered_at_least(), f.generations()};
    }
    result<window_filter> make() const {
        return window_filter::make(geometry, planned, duration, generations);
    }

    posy::geometry geometry;
    promise planned;
    std::uint64_t duration;
    unsigned generations;
};

// Of a time or a length of time; 0 if it is negative.
std::uint64_t ticks(std::chrono::microseconds);
result<window_filter> make_window(std::uint64_t items, double rate, std::chrono::microseconds length,
                                  unsigned generations, const std::optional<hasher>&);

template <class Key, class Clock = std::chrono::system_clock>
class window : public keyed<window<Key, Clock>, Key, window_filter> {
    using base = keyed<window, Key, window_filter>;

  public:
    using typename base::argument;
    using clock = Clock;
    using time_point = typename Clock::time_point;

    // For at most this many keys in a window at this false-positive rate. Throws if there is no such filter,
    // or no memory for it.
    window(std::uint64_t items, double rate, std::chrono::microseconds length, unsigned generations = 8,
           const std::optional<hasher>& hash = {})
        : window(*make(items, rate, length, generations, hash)) {}
    explicit window(window_filter filter) : base(std::move(filter)) {}
    // The same, as a result.
    static result<window> make(std::uint64_t items, double rate, std::chrono::microseconds length,
                               unsigned generations = 8, const std::optional<hasher>& hash = {}) {
        return base::from(make_window(items, rate, length, generations, hash));
    }
    using base::make;

    // Inserts the key, or the keys, at this time; the time of a key that is there already is renewed. False
    // if the time is more than a window before the latest insertion; then nothing has changed.
    bool insert(argument key, time_point time) {
        return this->body().insert(this->digest_of(key), since_epoch(time));
    }
    template <range_of_keys<Key> Range>
    bool insert(Range&& keys, time_point time) {
        bool in_time = true;
        this->each_batch(
            keys, [&](auto batch, std::size_t) { in_time &= this->body().insert(batch, since_epoch(time)); });
        return in_time;
    }

    bool may_contain(argument key, time_point time) const {
        return this->body().may_contain(this->digest_of(key), since_epoch(time));
    }
    // Many keys: one answer for each; returns how many were yes. It needs as many answers as keys.
    template <range_of_keys<Key> Range>
    std::size_t may_contain(Range&& keys, time_point time, std::span<bool> answers) const {
        return this->sum_of_batches(keys, [&](auto batch, std::size_t first) {
            return this->body().may_contain(batch, since_epoch(time),
                                            answers_of(answers, first, batch.size()));
        });
    }

    // The number of keys remembered at that time; one that came again later may be counted again.
    std::uint64_t items(time_point time) const { return this->body().items(since_epoch(time)); }
    // Of the bits as they are.
    double false_positive_rate(time_point time) const {
        return this->body().false_positive_rate(since_epoch(time));
    }

  private:
    static std::uint64_t since_epoch(time_point time) {
        return ticks(std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()));
    }
};

}  // namespace posy::typed
