// Packets from a capture file, a pipe or an interface, one after the other.
#pragma once

#include <memory>
#include <string>

#include "posy/packet/capture.hpp"

namespace posy::tool {

// What a packet is of whose link type headers_of() cannot read.
std::string unknown_link_text(std::uint32_t number);

class packet_stream {
  public:
    enum class step {
        packet,  // there is another one
        idle,    // none has come for a while
        end,     // of the file, or because of a signal
    };
    virtual ~packet_stream() = default;
    // The bytes of the packet are valid until the next call. Throws failure.
    virtual step next(packets::captured& into) = 0;
    // Packets that came and could not be read in time.
    virtual std::uint64_t dropped() { return 0; }
};

// A capture file; "-" is standard input. It ends early when `stop` can be read, if that is a descriptor.
std::unique_ptr<packet_stream> open_capture(const std::string& path, int stop = -1);
// What goes over an interface, in and out; "any" is all of them.
std::unique_ptr<packet_stream> open_interface(const std::string& name, int stop);
// A capture file, or an interface if there is no such file.
std::unique_ptr<packet_stream> open_packets(const std::string& name, int stop);

}  // namespace posy::tool
