// Stochastic Fair Blue (Feng, Kandlur, Saha and Shin 2001; Broder & Mitzenmacher 2004, 7.2): a queue that
// finds the flows that do not yield, without a state per flow.
//
// A counting filter of `levels` times `bins` bins: a flow has one bin in each level. A bin counts its packets
// in the queue and has a marking probability. When a packet arrives, the probability of each of its bins
// rises by a step if the bin has too many packets, and falls by a step if it has none. The packet is marked
// (or dropped, if the flow does not understand marks) with the least probability of its bins: a flow that
// yields keeps at least one of its bins short, unless it shares all of them with flows that do not. A flow
// whose bins are all at 1 does not yield, and what such flows send beyond a fixed rate is dropped.
//
// A flow may be punished because all its bins are shared (posy/theory/fair_blue.hpp). So the hashes change
// from time to time. There are two sets of bins: one decides, and the other, with the next hashes, learns for
// a while before it takes over, so that no flow goes free at the change. Packets of punished flows hardly
// reach the queue, so no bin would grow long by them: while the other set learns, they count as if it had.
//
// Time (in microseconds) and randomness are handed in. Cost of a packet: one hash per level and set. Memory:
// 24 bytes per bin. Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "posy/digest.hpp"

namespace posy::packets {

struct fair_blue_settings {
    unsigned levels = 8, bins = 16;      // bins per level
    std::uint64_t limit = 1'000;         // packets in the queue
    std::uint64_t bin_packets = 0;       // a bin with more is too long; 0: limit · 3 / (2 · bins)
    double step = 0.0005;                // of a marking probability, up and down
    std::uint64_t freeze = 1'000;        // between two changes of a bin's probability
    std::uint64_t rehash = 60'000'000;   // until the hashes change
    std::uint64_t warm_up = 10'000'000;  // before that, the next ones learn
    double penalty_rate = 10;            // packets per second for all flows that do not yield
    double penalty_burst = 20;           // packets
    std::uint64_t seed = 0;              // of the hashes: secret, or flows can choose their bins
};

enum class fate : std::uint8_t {
    queued,
    marked,     // queued, and to be marked
    early,      // dropped in place of a mark
    overlimit,  // dropped: the queue or all bins of the flow are full
    punished,   // dropped: the flow does not yield
};
constexpr bool is_queued(fate f) { return f == fate::queued || f == fate::marked; }

class fair_blue {
  public:
    // Precondition: at least one level and one bin, at most 65,536 bins; warm_up is at most rehash.
    explicit fair_blue(const fair_blue_settings&, std::uint64_t now = 0);

    // What is remembered of a packet in the queue.
    struct ticket {
        digest flow{};
        std::array<std::uint32_t, 2> epochs{};  // of the two sets of bins
    };
    // A packet of the flow arrives; `chance` is uniform in [0, 1). If it is queued, `leave()` must be told.
    std::pair<fate, ticket> arrive(digest flow, std::uint64_t now, double chance, bool understands_marks);
    void leave(const ticket&);

    std::uint64_t queued() const { return queued_; }
    // The least marking probability of its bins: 1 means that it is punished.
    double probability(digest flow) const;
    // How often the hashes have changed.
    std::uint64_t changes() const { return changes_; }

  private:
    struct bin {
        std::uint64_t packets = 0;
        double probability = 0;
        std::uint64_t changed = 0;
    };
    struct bin_set {
        std::uint64_t seed = 0;
        std::uint32_t epoch = 0;
        std::vector<bin> bins{};  // level by level
    };
    std::size_t index(const bin_set&, digest flow, unsigned level) const;
    void begin(bin_set&);
    void change_hashes(std::uint64_t now);
    void learn(bin_set&, digest flow, std::uint64_t now, bool does_not_yield) const;
    bool has_token(std::uint64_t now);

    fair_blue_settings settings_;
    std::array<bin_set, 2> sets_;
    unsigned active_ = 0;
    std::uint64_t queued_ = 0, changes_ = 0, change_at_;
    std::uint32_t epochs_ = 0;
    double tokens_;
    std::uint64_t filled_at_;
};

// The queue itself, first in first out, for any kind of packet.
template <class Packet>
class fair_blue_queue {
  public:
    explicit fair_blue_queue(const fair_blue_settings& s, std::uint64_t now = 0) : blue_(s, now) {}

    // A packet that is not queued is dropped.
    fate push(Packet packet, digest flow, std::uint64_t now, double chance, bool understands_marks) {
        const auto [what, ticket] = blue_.arrive(flow, now, chance, understands_marks);
        if (is_queued(what)) packets_.push_back({std::move(packet), ticket, what == fate::marked});
        return what;
    }
    struct departure {
        Packet packet;
        bool marked;
    };
    std::optional<departure> pop() {
        if (packets_.empty()) return std::nullopt;
        entry first = std::move(packets_.front());
        packets_.pop_front();
        blue_.leave(first.ticket);
        return departure{std::move(first.packet), first.marked};
    }
    std::size_t size() const { return packets_.size(); }
    const fair_blue& state() const { return blue_; }

  private:
    struct entry {
        Packet packet;
        fair_blue::ticket ticket;
        bool marked;
    };
    fair_blue blue_;
    std::deque<entry> packets_;
};

}  // namespace posy::packets
