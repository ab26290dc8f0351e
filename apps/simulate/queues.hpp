// Queues of a router, for a simulation: Stochastic Fair Blue, and beside it the two that everybody knows.
//
// Drop-tail takes packets until it is full. RED (Floyd and Jacobson 1993) keeps a moving average of its
// length and marks with a probability that grows with it. All see packets as the number of their flow.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "posy/packet/fair_blue.hpp"

namespace posy::simulate {

struct queued_packet {
    std::uint32_t flow = 0;
    std::uint64_t sent_at = 0;
    bool marked = false;
};

class packet_queue {
  public:
    virtual ~packet_queue() = default;
    // Whether it was taken; `chance` is uniform in [0, 1), time in microseconds.
    virtual bool push(queued_packet, std::uint64_t now, double chance) = 0;
    virtual std::optional<queued_packet> pop() = 0;
};

class drop_tail : public packet_queue {
  public:
    explicit drop_tail(std::size_t limit) : limit_(limit) {}
    bool push(queued_packet p, std::uint64_t, double) override {
        if (packets_.size() >= limit_) return false;
        packets_.push_back(p);
        return true;
    }
    std::optional<queued_packet> pop() override {
        if (packets_.empty()) return std::nullopt;
        const queued_packet first = packets_.front();
        packets_.pop_front();
        return first;
    }

  protected:
    std::size_t limit_;
    std::deque<queued_packet> packets_;
};

class red : public drop_tail {
  public:
    explicit red(std::size_t limit) : drop_tail(limit) {}
    bool push(queued_packet p, std::uint64_t now, double chance) override {
        average_ += weight * (static_cast<double>(packets_.size()) - average_);
        const auto limit = static_cast<double>(limit_);
        const double low = limit / 4, high = limit * 3 / 4;
        if (average_ >= high) return false;
        p.marked = average_ > low && chance < most * (average_ - low) / (high - low);
        return drop_tail::push(p, now, chance);
    }

  private:
    static constexpr double weight = 0.002, most = 0.1;
    double average_ = 0;
};

class fair_blue_of_flows : public packet_queue {
  public:
    explicit fair_blue_of_flows(const packets::fair_blue_settings& s) : queue_(s) {}
    bool push(queued_packet p, std::uint64_t now, double chance) override {
        return is_queued(queue_.push(p, hasher()(p.flow), now, chance, true));
    }
    std::optional<queued_packet> pop() override {
        auto first = queue_.pop();
        if (!first) return std::nullopt;
        first->packet.marked = first->marked;
        return first->packet;
    }
    bool punishes(std::uint32_t flow) const { return queue_.state().probability(hasher()(flow)) > 0.99; }
    std::uint64_t changes() const { return queue_.state().changes(); }

  private:
    packets::fair_blue_queue<queued_packet> queue_;
};

}  // namespace posy::simulate
