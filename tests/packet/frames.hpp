// Packets put together from the inside out, byte by byte as the standards write them: an oracle for what
// reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace posy::packets {

using bytes = std::vector<std::byte>;

inline bytes of(std::initializer_list<unsigned> values) {
    bytes all;
    for (const unsigned value : values) all.push_back(static_cast<std::byte>(value));
    return all;
}
inline bytes operator+(bytes a, const bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
inline bytes pair_of(std::size_t number) {
    return of({static_cast<unsigned>(number >> 8 & 255), static_cast<unsigned>(number & 255)});
}
inline bytes zeros(std::size_t count) { return bytes(count); }

inline bytes udp(unsigned source, unsigned destination, const bytes& data = zeros(10)) {
    return pair_of(source) + pair_of(destination) + pair_of(8 + data.size()) + zeros(2) + data;
}
// With `options` words of options.
inline bytes tcp(unsigned source, unsigned destination, const bytes& data = zeros(10), unsigned options = 0) {
    return pair_of(source) + pair_of(destination) + zeros(8) + of({(5 + options) << 4, 0x10}) + zeros(6) +
           zeros(4 * options) + data;
}

struct ipv4_fields {
    unsigned protocol = 17, source = 1, destination = 2;  // the last bytes of 192.0.2.x
    unsigned options = 0, fragment = 0;                   // words; the field with flags and offset
};
inline bytes ipv4(const ipv4_fields& f, const bytes& data) {
    return of({0x45 + f.options, 0}) + pair_of(20 + 4 * f.options + data.size()) + zeros(2) +
           pair_of(f.fragment) + of({64, f.protocol, 0, 0}) + of({192, 0, 2, f.source}) +
           of({192, 0, 2, f.destination}) + zeros(4 * f.options) + data;
}
inline bytes ipv6(unsigned next, const bytes& data, unsigned source = 1, unsigned destination = 2) {
    const bytes network = of({0x20, 0x01, 0x0d, 0xb8}) + zeros(11);
    return of({0x60, 0, 0, 0}) + pair_of(data.size()) + of({next, 64}) + network + of({source}) + network +
           of({destination}) + data;
}
inline bytes ethernet(unsigned type, const bytes& data) { return zeros(12) + pair_of(type) + data; }

}  // namespace posy::packets
