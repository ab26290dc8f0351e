// Packets, counted by flow and by interval: what `posy flows` does between its input and its output.
//
// Time is that of the packets, or of whoever says that it passes. An interval begins with the first packet,
// and all are equally long; those without a packet are skipped. A packet that is older than its interval
// counts in it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "posy/packet/flow_parts.hpp"
#include "posy/packet/heavy_flows.hpp"

namespace posy::tool {

// What was counted, and what was not and why.
struct packet_tally {
    std::uint64_t packets = 0, bytes = 0;
    std::uint64_t not_ip = 0, cut_short = 0, malformed = 0, too_deep = 0, unknown_link = 0;
    std::uint64_t dropped = 0;              // by the kernel, before they were seen
    std::uint32_t unknown_link_number = 0;  // of the first packet of an unknown link

    std::uint64_t lost() const { return not_ip + cut_short + malformed + too_deep + unknown_link + dropped; }
};

struct flow_interval {
    std::uint64_t number = 0;  // from 1
    // Nanoseconds since 1970: of the first packet, and when the interval was over. The last one is over when
    // watching is: with the last packet of a file.
    std::uint64_t begin = 0, end = 0;
    std::uint64_t packets = 0, bytes = 0;
    packets::heavy_flows::report found{};
    // Of theory: the stage strength, and the probability that a flow of a tenth of found.complete_from
    // passes.
    double strength = 0, tenth_passes_at_most = 1;
    // With --exact: the truth about the flows found, in their order, and about all.
    std::vector<std::uint64_t> exact{};
    std::uint64_t flows = 0, missed = 0;  // of at least found.complete_from
};

class flow_watch {
  public:
    struct plan {
        packets::flow_parts by;
        bool count_packets = false;  // not bytes
        std::uint64_t interval = 0;  // nanoseconds; 0: one for everything
        bool exact = false;
    };
    using listener = std::function<void(const flow_interval&)>;

    flow_watch(packets::heavy_flows meter, plan p, listener closed)
        : meter_(std::move(meter)), plan_(std::move(p)), closed_(std::move(closed)) {}

    // `whole` is the 5-tuple; one packet, or a record of many.
    void add(const packets::flow_key& whole, std::uint64_t bytes, std::uint64_t packets, std::uint64_t time);
    // Closes the interval if it is over by now.
    void pass(std::uint64_t now);
    // Closes the last interval, if it has a packet. It ends where watching did: now, or with the last packet.
    void end(std::uint64_t now = 0);

    flow_interval so_far() const;
    const packets::heavy_flows& meter() const { return meter_; }
    const plan& asked() const { return plan_; }

  private:
    struct key_hash {
        std::size_t operator()(const packets::flow_key&) const;
    };
    void close(std::uint64_t end);
    void compare(flow_interval&) const;

    packets::heavy_flows meter_;
    plan plan_;
    listener closed_;
    flow_interval now_{};
    std::uint64_t latest_ = 0;
    bool any_ = false;  // there was a packet in this interval
    std::unordered_map<packets::flow_key, std::uint64_t, key_hash> exact_;
};

}  // namespace posy::tool
