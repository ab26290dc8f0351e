// Flow records as routers and collectors export them (NetFlow, IPFIX), as CSV.
//
// The first line names the columns. Those that matter are known by the names of nfdump, of SiLK and of IPFIX,
// whatever their case and punctuation; all others are ignored. The delimiter is the comma, semicolon, tab or
// bar that the first line has most of. A row that does not fit is an error with a reason and changes nothing;
// so is one without a value that matters, except that a protocol without ports may leave them out.
//
// Cost: one pass over a line. Thread safety: const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "posy/packet/flow_parts.hpp"
#include "posy/result.hpp"

namespace posy::packets {

struct flow_record {
    flow_key key{};
    std::uint64_t bytes = 0, packets = 0;
    std::uint64_t time = 0;  // when it began, nanoseconds since 1970; 0 if the table does not say
};

class flow_table {
  public:
    // An error if there is no source or destination, or neither bytes nor packets.
    static result<flow_table> of_header(std::string_view line);
    // An error that names the column if the table lacks one of these parts, or what is weighed. From now on
    // every row must have them.
    result<void> require(const flow_parts& by, bool weigh_packets);
    result<flow_record> row(std::string_view line) const;

    enum class column : std::uint8_t {
        source,
        destination,
        source_port,
        destination_port,
        protocol,
        bytes,
        packets,
        time,
        time_ms,
        other
    };
    bool has(column) const;

  private:
    result<void> read(column, std::string_view field, flow_record&) const;

    char delimiter_ = ',';
    std::vector<column> columns_;
    std::vector<column> needed_;  // a row without one of these is none
};

}  // namespace posy::packets
