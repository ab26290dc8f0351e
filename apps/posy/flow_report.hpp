// What `posy flows` prints: tables for people, JSON for programs, and a plot.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "flow_watch.hpp"

namespace posy::tool {

class flow_report {
  public:
    flow_report(packets::flow_parts by, bool count_packets, std::uint64_t top)
        : by_(std::move(by)), unit_(count_packets ? "packets" : "bytes"), top_(top) {}

    // One interval.
    std::string text(const flow_interval&) const;
    nlohmann::ordered_json json(const flow_interval&) const;
    // The flows of one interval by rank, or the largest of all intervals over time.
    void plot(const std::vector<flow_interval>&, const std::string& path) const;

  private:
    std::size_t shown(const flow_interval& i) const {
        return top_ == 0 ? i.found.flows.size() : std::min<std::size_t>(i.found.flows.size(), top_);
    }
    // No flow beside those shown has more.
    std::uint64_t others_at_most(const flow_interval&) const;
    std::string name(const packets::flow_key&) const;
    std::string by_rank(const flow_interval&) const;
    std::string over_time(const std::vector<flow_interval>&) const;

    packets::flow_parts by_;
    std::string unit_;
    std::uint64_t top_;  // 0: all
};

// "not counted: 3 not IP, 1 malformed"; empty if all was counted.
std::string lost_text(const packet_tally&);
nlohmann::ordered_json to_json(const packet_tally&);

}  // namespace posy::tool
