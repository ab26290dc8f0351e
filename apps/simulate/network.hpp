// A simulated network: machines of one overlay (posy/overlay/mail.hpp), and the mail between them, in the
// order of simulated time. Latency, loss, crashes and partitions are those of its `links`.
//
// Deterministic: the same seed and the same calls give the same run, on every machine. Memory is that of the
// machines and of the mail on its way; an event costs O(log of these). Thread safety: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <vector>

#include "posy/overlay/mail.hpp"

namespace posy::simulate {

using overlay::node_id;

// What lies between two nodes.
struct links {
    // Milliseconds from one node to another; without a function, every message takes 50.
    std::function<std::uint64_t(node_id from, node_id to)> latency;
    double loss = 0;  // probability that a message is lost
    // Whether two nodes can reach each other at this time; without a function, they always can.
    std::function<bool(node_id from, node_id to, std::uint64_t now)> open;
};

// What was sent; a message's kind is its first byte.
struct traffic {
    std::uint64_t messages = 0, bytes = 0, lost = 0;
    std::array<std::uint64_t, 256> bytes_of_kind{}, messages_of_kind{};
};

template <class Machine>
class network {
  public:
    network(links between, std::uint64_t seed) : links_(std::move(between)), random_(seed) {}

    std::uint64_t now() const { return now_; }
    const traffic& sent() const { return sent_; }
    std::size_t size() const { return machines_.size(); }

    // A node that was there under the same number is replaced: it has crashed and begun anew.
    Machine& join(node_id who, Machine machine) {
        auto& mine = machines_[who] = std::make_unique<resident>(std::move(machine), ++lives_);
        wake(who, *mine);
        return mine->machine;
    }
    // Without a word to anybody; mail for it is lost.
    void crash(node_id who) { machines_.erase(who); }

    // Null if there is no such node.
    Machine* find(node_id who) {
        const auto found = machines_.find(who);
        return found == machines_.end() ? nullptr : &found->second->machine;
    }
    // A user of the node does something now: act(machine, now, outbox).
    template <class Act>
    void at(node_id who, const Act& act) {
        resident& mine = *machines_.at(who);
        overlay::outbox out;
        act(mine.machine, now_, out);
        post(who, out);
        wake(who, mine);
    }
    template <class Use>
    void each(const Use& use) {
        for (auto& [who, mine] : machines_) use(who, mine->machine);
    }

    // All that happens until then.
    void run_until(std::uint64_t then) {
        while (!events_.empty() && events_.top().at <= then) step();
        now_ = then;
    }
    // Until no message is on its way and no machine waits, or that time has come; whether all is quiet.
    bool run_to_rest(std::uint64_t latest) {
        while (!events_.empty() && events_.top().at <= latest) step();
        return events_.empty();
    }

  private:
    struct resident {
        resident(Machine m, std::uint64_t l) : machine(std::move(m)), life(l) {}
        Machine machine;
        std::uint64_t life;              // a wake-up of an earlier life is ignored
        std::uint64_t woken_at = ~0ull;  // the earliest that is waiting
    };
    struct event {
        std::uint64_t at, order;
        node_id to, from;
        std::uint64_t life;                         // of a wake-up; of a message 0
        overlay::message_bytes message;             // of a wake-up nothing
        bool operator<(const event& other) const {  // the earliest is on top
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    void step() {
        const event next = events_.top();
        events_.pop();
        now_ = next.at;
        const auto found = machines_.find(next.to);
        if (found == machines_.end()) return;
        resident& mine = *found->second;
        overlay::outbox out;
        if (next.life == 0) {
            mine.machine.receive(next.from, next.message, now_, out);
        } else {
            if (next.life != mine.life || next.at != mine.woken_at) return;
            mine.woken_at = ~0ull;
            mine.machine.tick(now_, out);
        }
        post(next.to, out);
        wake(next.to, mine);
    }
    void post(node_id from, overlay::outbox& out) {
        for (overlay::letter& letter : out) {
            count(letter.message);
            const bool lost = static_cast<double>(random_() >> 11) * 0x1p-53 < links_.loss;
            if (lost || (links_.open && !links_.open(from, letter.to, now_))) {
                ++sent_.lost;
                continue;
            }
            const std::uint64_t takes = links_.latency ? links_.latency(from, letter.to) : 50;
            events_.push({now_ + takes, ++order_, letter.to, from, 0, std::move(letter.message)});
        }
    }
    void count(byte_view message) {
        ++sent_.messages;
        sent_.bytes += message.size();
        if (message.empty()) return;
        const auto kind = static_cast<std::uint8_t>(message[0]);
        ++sent_.messages_of_kind[kind];
        sent_.bytes_of_kind[kind] += message.size();
    }
    void wake(node_id who, resident& mine) {
        const auto at = mine.machine.next_tick();
        if (!at || std::max(*at, now_) >= mine.woken_at) return;
        mine.woken_at = std::max(*at, now_);
        events_.push({mine.woken_at, ++order_, who, who, mine.life, {}});
    }

    links links_;
    std::mt19937_64 random_;
    std::uint64_t now_ = 0, order_ = 0, lives_ = 0;
    traffic sent_;
    std::map<node_id, std::unique_ptr<resident>> machines_;
    std::priority_queue<event> events_;
};

}  // namespace posy::simulate
