// Where the packets of a command come from: capture files and pipes of them, tables of flow records,
// interfaces.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "flow_watch.hpp"
#include "posy/packet/capture.hpp"

namespace posy::tool {

struct packet_options {
    packets::tunnels which = packets::tunnels::innermost;
    bool only_addresses = false;  // a packet without its ports is enough
};

// Counts what is in a frame, or why it is not counted.
void count_frame(const packets::captured&, const packet_options&, packet_tally&, flow_watch&);

// A capture, or "-". What is wrong with it, behind the packets that could be read; nothing if it ended as it
// should.
std::optional<std::string> read_capture(const std::string& path, const packet_options&, packet_tally&,
                                        flow_watch&);

// A table of flow records, or "-". Rows that do not fit are counted as malformed, and so are those that would
// take a total beyond 64 bits; `first_wrong` is about the first of them.
void read_records(const std::string& path, packet_tally&, flow_watch&, std::string& first_wrong);

struct live_options {
    std::string interface;
    double seconds = 0;                      // 0: until a signal
    std::function<void()> each_half_second;  // to draw
};
// Packets of an interface as they come.
void watch_interface(const live_options&, const packet_options&, packet_tally&, flow_watch&);

}  // namespace posy::tool
