#include "posy/packet/imprint.hpp"

#include <algorithm>

namespace posy::packets {
namespace {

// A part of a frame: some of it was captured, and all of it was on the wire.
struct part {
    byte_view frame;
    std::uint64_t begin, end;  // on the wire

    // Are there `count` bytes at its beginning?
    outcome has(std::uint64_t count) const {
        if (begin + count > end) return outcome::malformed;
        return begin + count > frame.size() ? outcome::cut_short : outcome::found;
    }
    byte_view first(std::uint64_t count) const { return frame.subspan(begin, count); }
    std::uint64_t left() const { return end - begin; }
};

}  // namespace

void imprint::append(byte_view more) {
    std::ranges::copy(more, bytes_.begin() + size_);
    size_ = static_cast<std::uint8_t>(size_ + more.size());
}

outcome imprint::of(byte_view frame, std::uint64_t original_length, link_type link, imprint& into) {
    const headers h = headers_of(frame, original_length, link, tunnels::outermost);
    if (h.version == 0) return h.outcome;
    // The walk goes on to the ports. What it finds wrong there does not matter to routers, nor here.
    const std::uint64_t on_wire = std::max<std::uint64_t>(frame.size(), original_length);
    part rest{frame, h.network, h.network + std::uint64_t{h.ip_bytes}};
    const byte_view ip = frame.subspan(h.network);
    std::uint64_t header = 40;
    if (h.version == 4) header = 4 * (std::to_integer<unsigned>(ip[0]) & 15);
    if (rest.end > on_wire || rest.left() < header) return outcome::malformed;

    into = imprint();
    const std::byte version{h.version};
    into.append({&version, 1});
    rest.begin += header;
    if (h.version == 4) {
        into.append(ip.subspan(2, 6));
        into.append(ip.subspan(9, 1));
        into.append(ip.subspan(12, 8));
    } else {
        const std::byte label = ip[1] & std::byte{15};
        into.append({&label, 1});
        into.append(ip.subspan(2, 5));
        into.append(ip.subspan(8, 32));
        if (ip[6] == std::byte{0}) {  // hop-by-hop options: their second byte is their length
            if (const outcome o = rest.has(8); o != outcome::found) return o;
            const std::uint64_t options = 8 * (std::to_integer<std::uint64_t>(rest.first(2)[1]) + 1);
            if (options > rest.left()) return outcome::malformed;
            rest.begin += options;
        }
    }
    const std::uint64_t payload = std::min<std::uint64_t>(payload_bytes, rest.left());
    if (const outcome o = rest.has(payload); o != outcome::found) return o;
    into.append(rest.first(payload));
    return outcome::found;
}

}  // namespace posy::packets
