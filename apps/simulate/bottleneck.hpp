// A link that many flows share, behind a queue: flows that yield, as TCP does, and some that do not.
//
// A flow that yields has a window of packets on their way (AIMD): it grows by one per round trip, and halves
// at most once per round trip when a packet was marked or lost. At one packet, a loss makes it pause, twice
// as long each time. A flow that does not yield sends at a fixed rate. Time is in microseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <random>
#include <vector>

#include "queues.hpp"

namespace posy::simulate {

struct bottleneck_settings {
    std::uint32_t yielding = 400, unyielding = 1;
    double rate = 40'000;                // of the link, packets per second
    double unyielding_rate = 80'000;     // of each flow that does not yield
    std::uint64_t round_trip = 100'000;  // without queue; flows differ by a fifth of it
};

class bottleneck {
  public:
    bottleneck(const bottleneck_settings& s, packet_queue& queue, std::uint64_t seed)
        : settings_(s),
          queue_(queue),
          random_(seed),
          flows_(s.yielding),
          delivered_(s.yielding + s.unyielding) {
        for (std::uint32_t i = 0; i < s.yielding; ++i) {
            flows_[i].round_trip = s.round_trip * 9 / 10 + random_() % (s.round_trip / 5);
            at(random_() % s.round_trip, what::send, i);
        }
        for (std::uint32_t i = 0; i < s.unyielding; ++i) at(random_() % 1'000, what::flood, s.yielding + i);
    }

    void run_until(std::uint64_t then) {
        while (events_.top().at <= then) step();
    }
    // Packets of each flow that have left the link; those that do not yield are the last.
    const std::vector<std::uint64_t>& delivered() const { return delivered_; }
    void forget() { std::ranges::fill(delivered_, 0); }

  private:
    enum class what : std::uint8_t { send, flood, transmitted, acknowledged, lost };
    struct event {
        std::uint64_t at, order;
        what kind;
        std::uint32_t flow;
        bool marked;
        bool operator<(const event& other) const {  // the earliest is on top
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    struct flow {
        double window = 2;
        std::uint32_t on_the_way = 0;
        std::uint64_t round_trip = 0, yielded_at = 0, paused_until = 0;
        unsigned pauses = 0;
    };

    void at(std::uint64_t when, what kind, std::uint32_t who, bool marked = false) {
        events_.push({when, ++order_, kind, who, marked});
    }
    double chance() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

    void step() {
        const event e = events_.top();
        events_.pop();
        now_ = e.at;
        switch (e.kind) {
            case what::send:
                return send(e.flow);
            case what::flood:
                offer(e.flow);
                // Not in step with the link.
                return at(
                    now_ + 1 +
                        static_cast<std::uint64_t>(-std::log1p(-chance()) * 1e6 / settings_.unyielding_rate),
                    what::flood, e.flow);
            case what::transmitted:
                return transmit();
            case what::acknowledged:
                return hear(e.flow, e.marked, false);
            case what::lost:
                return hear(e.flow, false, true);
        }
    }
    void send(std::uint32_t i) {
        flow& f = flows_[i];
        if (now_ < f.paused_until) return;
        while (f.on_the_way < std::max(1.0, std::floor(f.window))) {
            ++f.on_the_way;
            offer(i);
        }
    }
    void offer(std::uint32_t i) {
        const bool taken = queue_.push({i, now_, false}, now_, chance());
        if (!taken && i < flows_.size()) at(now_ + flows_[i].round_trip, what::lost, i);
        if (taken && !busy_) transmit();
    }
    void transmit() {
        busy_ = false;
        if (const auto sent = sending_) {
            ++delivered_[sent->flow];
            if (sent->flow < flows_.size())
                at(now_ + flows_[sent->flow].round_trip, what::acknowledged, sent->flow, sent->marked);
        }
        sending_ = queue_.pop();
        if (!sending_) return;
        busy_ = true;
        // In whole microseconds, and exact on average.
        due_ = std::max(due_, static_cast<double>(now_)) + 1e6 / settings_.rate;
        at(static_cast<std::uint64_t>(due_), what::transmitted, 0);
    }
    void hear(std::uint32_t i, bool marked, bool lost) {
        flow& f = flows_[i];
        --f.on_the_way;
        if (lost && f.window <= 1 && now_ >= f.paused_until) {
            f.paused_until = now_ + (200'000ULL << std::min(f.pauses++, 6U));
            at(f.paused_until, what::send, i);
        }
        if ((marked || lost) && now_ - f.yielded_at >= f.round_trip) {
            f.window = std::max(1.0, f.window / 2);
            f.yielded_at = now_;
        } else if (!marked && !lost) {
            f.window += 1 / f.window;
            f.pauses = 0;
        }
        send(i);
    }

    bottleneck_settings settings_;
    packet_queue& queue_;
    std::mt19937_64 random_;
    std::vector<flow> flows_;
    std::vector<std::uint64_t> delivered_;
    std::priority_queue<event> events_;
    std::uint64_t now_ = 0, order_ = 0;
    std::optional<queued_packet> sending_;
    double due_ = 0;
    bool busy_ = false;
};

}  // namespace posy::simulate
