// The walk of headers_of(): one object per frame, one function per header. A function reads its header, notes
// what it found and goes on to the next one; the first failure ends the walk.
#pragma once

#include <algorithm>
#include <utility>

#include "posy/packet/headers.hpp"

namespace posy::packets {

class walk {
  public:
    walk(byte_view frame, std::uint64_t original_length, tunnels which)
        : frame_(frame), end_(std::max<std::uint64_t>(frame.size(), original_length)), which_(which) {}

    headers from(link_type link) &&;

  private:
    // What no honest packet exceeds.
    static constexpr unsigned most_tags = 8, most_extensions = 16, most_tunnels = 8;

    // link.cpp
    void ethernet(std::uint64_t at);
    void ether_type(unsigned type, std::uint64_t at);
    void labels(std::uint64_t at);
    void address_family(std::uint64_t at);

    // network.cpp
    void ip(std::uint64_t at);
    void ipv4(std::uint64_t at);
    void ipv6(std::uint64_t at);
    bool begin_packet(std::uint64_t at, unsigned version, std::uint64_t header, std::uint64_t length);
    void upper(unsigned protocol, std::uint64_t at);
    std::uint64_t extension(unsigned& protocol, std::uint64_t at);
    void transport(unsigned protocol, std::uint64_t at);
    void ports(unsigned protocol, std::uint64_t at);

    // tunnels.cpp
    void tunnel(unsigned protocol, std::uint64_t at);
    void gre(std::uint64_t at);
    void udp_tunnel(unsigned port, std::uint64_t at);
    template <class Next>
    void inside(Next next);

    // Are there `count` bytes at `at`, in the layer and in the capture? If not, the walk has failed.
    bool need(std::uint64_t at, std::uint64_t count) {
        if (at + count <= captured_end()) return true;
        found_.outcome = at + count > end_ ? outcome::malformed : outcome::cut_short;
        return false;
    }
    std::uint64_t captured_end() const { return std::min<std::uint64_t>(frame_.size(), end_); }
    unsigned byte(std::uint64_t at) const { return std::to_integer<unsigned>(frame_[at]); }
    unsigned pair(std::uint64_t at) const { return byte(at) << 8 | byte(at + 1); }

    byte_view frame_;
    std::uint64_t end_;  // of the present layer, on the wire
    tunnels which_;
    unsigned tags_ = 0;
    headers found_;
};

}  // namespace posy::packets
