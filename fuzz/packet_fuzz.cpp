// A frame of a stranger: an outcome, and offsets inside what was captured.
//
// The first three bytes choose the link type, which packet of a tunnel is wanted, and how much longer the
// frame was on the wire.
#include <cstdint>
#include <cstdlib>

#include "posy/packet/headers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace posy::packets;
    if (size < 3) return 0;
    const auto link = static_cast<link_type>(data[0] % 5);
    const auto which = static_cast<tunnels>(data[1] % 2);
    const posy::byte_view frame(reinterpret_cast<const std::byte*>(data) + 3, size - 3);
    const std::uint64_t length = frame.size() + data[2];
    const headers h = headers_of(frame, length, link, which);
    if (h.version == 0) {
        if (h.outcome == outcome::found) std::abort();
        return 0;
    }
    if (h.network + (h.version == 4 ? 20 : 40) > frame.size() || h.payload > frame.size()) std::abort();
    if (h.outcome != outcome::found) return 0;
    if (h.network + std::uint64_t{h.ip_bytes} > length || h.transport <= h.network) std::abort();
    if (h.payload != 0 && h.payload <= h.transport) std::abort();
    if (h.has_ports && h.transport + 4 > frame.size()) std::abort();
    if (which == tunnels::outermost && h.depth != 0) std::abort();
    if (!address_text(h.key, flow_key::source).empty()) return 0;
    std::abort();
}
