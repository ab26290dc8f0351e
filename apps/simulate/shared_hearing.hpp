// A summary that thousands of simulated nodes receive is decoded once: the others get a copy of the
// subscriber that decoded it, which shares the filter. The result is the same as if each had decoded its own.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "posy/subscriber.hpp"

namespace posy::simulate {

class shared_hearing {
  public:
    reception operator()(subscriber& s, byte_view message, std::uint64_t now) {
        const digest of_message = hasher()(message);
        const auto base = s.edition().value_or(posy::edition{});
        const key k{of_message.low, of_message.high ^ base.generation << 33 ^ base.checksum};
        ++received_;
        bytes_ += message.size();
        if (known_.size() > most) known_.clear();
        auto found = known_.find(k.low ^ k.high);
        if (found == known_.end() || found->second.of != k) {
            const reception became = s.receive(message, now);
            const std::uint64_t whole =
                s.filter() && weigh_ ? to_bytes(*s.filter(), {.want = coding::smallest}).size() : 0;
            found = known_.insert_or_assign(k.low ^ k.high, heard{k, s, became, whole}).first;
        }
        s = found->second.after;
        whole_bytes_ += found->second.whole;
        return found->second.became;
    }

    // From now on: what was received, and what whole filters in place of deltas would have been.
    void weigh() {
        weigh_ = true;
        received_ = bytes_ = whole_bytes_ = 0;
        known_.clear();
    }
    std::uint64_t received() const { return received_; }
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t whole_bytes() const { return whole_bytes_; }

  private:
    static constexpr std::size_t most = 60'000;
    struct key {
        std::uint64_t low, high;
        friend bool operator==(const key&, const key&) = default;
    };
    struct heard {
        key of;
        subscriber after;
        reception became;
        std::uint64_t whole;
    };
    std::unordered_map<std::uint64_t, heard> known_;
    std::uint64_t received_ = 0, bytes_ = 0, whole_bytes_ = 0;
    bool weigh_ = false;
};

}  // namespace posy::simulate
