// What the parts of `posy trace` share: the packet that is asked for, when it came, and the digests of a
// router.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "posy/packet/digest_folder.hpp"
#include "tool.hpp"

namespace posy::tool {

struct traced_packet {
    packets::imprint imprint;
    std::optional<std::uint64_t> time;  // µs; nothing: not known
    std::string what;                   // its addresses and protocol
};

// All packets of a capture file, or the one whose bytes are given as hexadecimal digits: an IP packet, or an
// Ethernet frame. Throws failure if there is none that could have been recorded.
std::vector<traced_packet> packets_in(const std::string& argument);

// Which pages to ask, and how.
struct trace_options {
    std::string at, within = "60s";
    fetch_options fetch;
    reading_options reading;
    bool as_json = false;

    void add_to(command_line&);
    // The time that was given, or the packet's, in µs; nothing if neither is known.
    std::optional<std::uint64_t> time(const traced_packet&) const;
    // Around it; all time if it is not known.
    packets::time_window window(const traced_packet&) const;
};

// What a router's digests say, in a folder or at a URL, about each packet. A page is read once. Pages that
// cannot be read are counted, and reported on standard error. Throws failure if there are no digests there.
struct digest_answer {
    packets::sightings found;
    std::uint64_t unreadable = 0;                  // pages
    bool from_before = false, from_after = false;  // there are pages on this side of the packet's time

    bool seen() const { return !found.seen.empty(); }
    // A no counts only of a router that was recording at the time, and whose pages could all be read.
    bool known() const { return seen() || (unreadable == 0 && from_before && from_after); }
};
std::vector<digest_answer> ask_digests(const std::string& where, std::span<const traced_packet>,
                                       const trace_options&);

// "2026-11-16 13:20:22.123456" and, of a window, two of these, in UTC.
std::string time_text(std::uint64_t microseconds);
std::string window_text(const packets::time_window&);

void add_trace_record(command_line& trace);
void add_trace_query(command_line& trace);
void add_trace_route(command_line& trace);
void add_trace_plan(command_line& trace);

}  // namespace posy::tool
