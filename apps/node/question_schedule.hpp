// When a peer is asked for its summary, and for how long it may hold the question open.
//
// After news, and after a question that was held open, it is asked again at once; one that answers sooner is
// asked no more often than every half second, or at the interval of --poll, a Squid every ten seconds. After
// failures it is left alone for longer and longer (backoff.hpp). And with n peers, each gets the share 1/(2n)
// of our time at most: after an answer that cost much it rests, whatever hints say.
//
// Time is handed in. Thread safety: none; it belongs to the thread that follows the peer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "backoff.hpp"
#include "options.hpp"

namespace posy::node {

class question_schedule {
  public:
    using clock = std::chrono::steady_clock;
    enum class outcome {
        news,
        unchanged,  // it said that there is none
        useless,    // an answer that brought nothing
        failed,
    };

    question_schedule(const options& how, peer_kind kind) : poll_(how.poll), wait_(how.wait), kind_(kind) {}

    // A question begins; `known`: we have a summary that it can wait for a change of. Returns for how long
    // the peer is asked to do so.
    std::chrono::seconds ask(bool known, clock::time_point now) {
        asked_ = now;
        cost_ = exchange_cost;
        const bool hold = known && poll_ == poll_.zero() && kind_ == peer_kind::posy;
        held_for_ = hold ? wait_ : wait_.zero();
        return held_for_;
    }
    // Whether to offer the peer that it answers with a stream, and after which silence it then sends a sign
    // of life: no time at all if not.
    std::chrono::seconds stream(clock::time_point now) const {
        const bool offered = poll_ == poll_.zero() && kind_ == peer_kind::posy && now >= no_stream_before_;
        return offered ? wait_ : wait_.zero();
    }
    // A stream was asked for, and nothing came in time. Perhaps something between us and the peer collects
    // answers before it passes them on: for a while it gets questions that end.
    void stream_was_silent(clock::time_point now) { no_stream_before_ = now + silent_stream_pause; }
    // The peer has said something in a stream: it does not fail.
    void lives() { patience_.succeeded(); }
    // A message of a stream has been read. Returns how long to rest for what it cost, before the next is.
    clock::duration message_over(std::size_t peers) {
        return rest(std::exchange(cost_, exchange_cost), peers);
    }
    // What the answer cost us.
    void charge(clock::duration decoding, std::size_t bytes) {
        const std::chrono::duration<double> received(byte_cost * static_cast<double>(bytes));
        cost_ += decoding + std::chrono::duration_cast<clock::duration>(received);
    }
    // The question is over. Returns how long the peer rests for what it cost, with so many peers in all.
    clock::duration over(outcome came, std::size_t peers, clock::time_point now) {
        const auto rested = rest(cost_, peers);
        next_ = now + pause_after(came, now);
        earliest_ = now + rested;
        return rested;
    }

    // The next question, and the earliest one if the peer hints at news.
    clock::time_point next() const { return std::max(next_, earliest_); }
    clock::time_point earliest() const { return earliest_; }
    // In a row.
    unsigned failures() const { return patience_.failures(); }

  private:
    // An exchange, and bytes at 100 MB per second.
    static constexpr std::chrono::milliseconds exchange_cost{1};
    static constexpr double byte_cost = 1e-8;
    static constexpr std::chrono::milliseconds squid_interval{10'000};

    static constexpr std::chrono::minutes silent_stream_pause{10};

    static clock::duration rest(clock::duration cost, std::size_t peers) {
        return cost * (2 * static_cast<std::int64_t>(std::max<std::size_t>(peers, 1)) - 1);
    }

    std::chrono::milliseconds pause_after(outcome came, clock::time_point now) {
        if (came == outcome::failed) return patience_.failed();
        patience_.succeeded();
        if (kind_ == peer_kind::squid) return std::max(poll_, squid_interval);
        // A peer that does not hold questions open would be asked without a pause.
        const bool held = held_for_ > held_for_.zero() && now - asked_ > held_for_ / 2;
        const bool again =
            poll_ == poll_.zero() && (came == outcome::news || (came == outcome::unchanged && held));
        return again ? poll_.zero() : std::max(poll_, backoff::first);
    }

    std::chrono::milliseconds poll_;
    std::chrono::seconds wait_, held_for_{};
    peer_kind kind_;
    backoff patience_;
    clock::time_point asked_{}, next_{}, earliest_{}, no_stream_before_{};
    clock::duration cost_{};
};

}  // namespace posy::node
