#include "mutation.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/varint.hpp"
#include "message/kinds.hpp"

namespace posy::hostile {
namespace {

using difference = std::ptrdiff_t;

// Numbers at which parsers change their mind: small ones, powers of two and their neighbours, any.
std::uint64_t number(dice& d) {
    switch (d.below(4)) {
        case 0:
            return d.below(20);
        case 1:
            return (std::uint64_t{1} << d.below(64)) + d.below(3) - 1;
        default:
            return d.of_any_size(64);
    }
}

std::uint64_t near(dice& d, std::uint64_t value) {
    switch (d.below(6)) {
        case 0:
            return value + 1;
        case 1:
            return value - 1;
        case 2:
            return 2 * value;
        case 3:
            return value / 2;
        case 4:
            return value << d.below(24);
        default:
            return number(d);
    }
}

// Large arrays take long, so they are drawn rarely; but they are drawn.
std::uint64_t array_bits(dice& d, std::uint64_t now) {
    const std::uint64_t which = d.below(1000);
    if (which < 500) return std::min(near(d, now), std::uint64_t{1} << 16);
    if (which < 990) return d.of_any_size(16);
    if (which < 998) return d.of_any_size(22);
    return d.of_any_size(41);
}

void put(byte_string& at, std::size_t place, byte_view bytes) {
    at.insert(at.begin() + static_cast<difference>(place), bytes.begin(), bytes.end());
}
void cut(byte_string& from, std::size_t place, std::size_t count) {
    const auto first = from.begin() + static_cast<difference>(place);
    from.erase(first, first + static_cast<difference>(std::min(count, from.size() - place)));
}
byte_string varint(std::uint64_t value) {
    byte_string bytes;
    base::put_varint(bytes, value);
    return bytes;
}

// Fields stand at the front of a payload.
std::size_t place_in(dice& d, std::size_t size) {
    return d.one_in(3) ? d.below(size + 1) : d.below(std::min<std::size_t>(size, 24) + 1);
}

void change_number(dice& d, byte_string& payload) {
    const std::size_t place = place_in(d, payload.size());
    byte_view rest = byte_view(payload).subspan(place);
    const std::size_t before = rest.size();
    const auto old = base::take_varint(rest);
    if (old) cut(payload, place, before - rest.size());
    put(payload, place, varint(old ? near(d, *old) : number(d)));
}

void repeat_slice(dice& d, byte_string& payload) {
    const std::size_t from = d.below(payload.size()), size = 1 + d.below(payload.size() - from);
    const byte_string slice(
        payload.begin() + static_cast<difference>(from),
        payload.begin() + static_cast<difference>(from + std::min<std::size_t>(size, 64)));
    const std::uint64_t times = d.one_in(200) ? d.below(500) : d.below(6);
    for (std::uint64_t i = 0; i < times; ++i) put(payload, from, slice);
}

void change_payload(dice& d, byte_string& payload, const std::vector<byte_string>& donors) {
    for (std::uint64_t left = 1 + d.below(3); left > 0; --left) {
        const std::size_t size = payload.size();
        switch (d.below(size == 0 ? 2 : 9)) {
            case 0:
                payload.resize(size + d.of_any_size(d.one_in(100) ? 14 : 5),
                               static_cast<std::byte>(d.one_in(2) ? 0 : d.roll()));
                break;
            case 1:
            case 2:
                change_number(d, payload);
                break;
            case 3:
                payload[d.below(size)] ^= static_cast<std::byte>(1u << d.below(8));
                break;
            case 4:
                payload[place_in(d, size - 1)] =
                    static_cast<std::byte>(d.one_in(3) ? 0xff * d.below(2) : d.roll());
                break;
            case 5:
                payload.resize(d.below(size));
                break;
            case 6:
                cut(payload, d.below(size), 1 + d.below(8));
                break;
            case 7:
                repeat_slice(d, payload);
                break;
            default: {
                const byte_string& other = donors[d.below(donors.size())];
                const std::size_t from = d.below(other.size());
                put(payload, d.below(size),
                    byte_view(other).subspan(from,
                                             std::min<std::size_t>(d.of_any_size(8), other.size() - from)));
            }
        }
    }
}

// The sizes that a layout allows, mostly.
void make_fit(dice& d, geometry& g) {
    if (d.one_in(20)) return;
    const std::uint64_t unit = g.layout == layout_id::blocked  ? 512
                               : g.layout == layout_id::paired ? 1024
                               : g.layout == layout_id::narrow ? 128
                               : g.layout == layout_id::sliced ? std::max(1u, g.hashes)
                                                               : 1;
    g.bits = std::max<std::uint64_t>(g.bits / unit, 1) * unit;
}

void change_header(dice& d, frame::header& h) {
    for (std::uint64_t left = 1 + d.below(3); left > 0; --left) {
        switch (d.below(h.has_geometry() ? 12 : 3)) {
            case 0:
                h.generation = near(d, h.generation);
                break;
            case 1:
                h.geometry.seed.low = number(d);
                break;
            case 2:
                h.geometry.hash = static_cast<hash_family>(d.below(6));
                break;
            case 3:
                h.geometry.hashes = static_cast<unsigned>(d.below(34));
                break;
            case 4:
                h.geometry.layout = static_cast<layout_id>(d.below(7));
                break;
            case 5:
                h.provenance.items = number(d) >> 2;
                break;
            case 6:
                h.provenance.planned = promise{number(d), std::bit_cast<double>(d.roll())};
                break;
            case 7:
                h.counter_bits = h.kind == frame::kind::counting ? (d.one_in(2) ? 4 : 8) : 0;
                break;
            case 8:
                (h.kind == frame::kind::queryable) ? void(h.form = static_cast<queryable_form>(d.below(5)))
                                                   : void(h.codec = static_cast<codec_id>(d.below(7)));
                break;
            case 9:
                h.base_generation = near(d, h.base_generation);
                break;
            default:
                h.geometry.bits = array_bits(d, h.geometry.bits);
        }
    }
    if (h.has_geometry()) make_fit(d, h.geometry);
}

byte_string framed(frame::header h, byte_view payload) {
    h.payload_size = payload.size();
    byte_string message = frame::encode(h);
    message.insert(message.end(), payload.begin(), payload.end());
    message.resize(message.size() + frame::checksum_size);
    repair_checksum(message);
    return message;
}

byte_string turned(dice& d, byte_view message) {
    byte_string bytes(message.begin(), message.end());
    for (std::uint64_t left = 1 + d.below(4); left > 0; --left)
        bytes[d.one_in(2) ? d.below(std::min<std::size_t>(bytes.size(), 40)) : d.below(bytes.size())] ^=
            static_cast<std::byte>(d.one_in(2) ? 1u << d.below(8) : d.roll());
    repair_checksum(bytes);
    return bytes;
}

// A reconciliation message may have whole messages inside: a filter behind its first byte, or a tree's two,
// each behind its length.
bool change_inner(dice& d, byte_string& payload, const std::vector<byte_string>& donors) {
    const auto kind = payload.empty() ? 0u : std::to_integer<unsigned>(payload[0]);
    constexpr unsigned filter = 5, tree = 6;
    std::size_t at = kind == filter ? 1 : 4;
    if ((kind != filter && kind != tree) || payload.size() < at || d.one_in(8)) return false;
    byte_view rest = byte_view(payload).subspan(at);
    std::optional<std::uint64_t> size = rest.size();
    if (kind == tree) {
        size = base::take_varint(rest);
        if (size && d.one_in(2) && *size < rest.size()) {  // the second one
            rest = rest.subspan(*size);
            at = payload.size() - rest.size();
            size = base::take_varint(rest);
        }
    }
    if (!size || *size > rest.size() || *size < 12) return false;
    byte_string inner = mutated_message(d, rest.first(*size), donors);
    if (kind == tree) put(inner, 0, varint(inner.size()));
    const byte_view behind = rest.subspan(*size);
    const byte_string tail(behind.begin(), behind.end());
    payload.resize(at);
    put(payload, at, inner);
    put(payload, payload.size(), tail);
    return true;
}

}  // namespace

void repair_checksum(byte_string& message) {
    if (message.size() < frame::checksum_size) return;
    const std::size_t end = message.size() - frame::checksum_size;
    frame::checksum sum;
    sum.add(byte_view(message).first(end));
    store_little(&message[end], sum.value());
}

byte_string mutated_message(dice& d, byte_view message, const std::vector<byte_string>& donors) {
    const auto size = frame::header_size(message.first(std::min(message.size(), frame::prefix_size)));
    if (!size || *size > message.size() || d.one_in(5)) return turned(d, message);
    const auto header = frame::decode(message.first(*size));
    if (!header || message.size() < *size + header->payload_size) return turned(d, message);
    frame::header h = *header;
    const byte_view rest = message.subspan(*size, h.payload_size);
    byte_string payload(rest.begin(), rest.end());
    const std::uint64_t what = d.below(4);
    if (what != 0) change_header(d, h);
    if (what != 1 && !(h.kind == frame::kind_of<reconcile::envelope> && change_inner(d, payload, donors)))
        change_payload(d, payload, donors);
    if (h.raw() && h.array_bytes() < 1 << 16 && !d.one_in(8)) payload.resize(h.array_bytes());
    return framed(h, payload);
}

byte_string mutated_bytes(dice& d, byte_view bytes) {
    byte_string changed(bytes.begin(), bytes.end());
    for (std::uint64_t left = 1 + d.below(4); left > 0 && !changed.empty(); --left) {
        const std::size_t at = place_in(d, changed.size() - 1);
        const std::uint64_t value = number(d);
        switch (d.below(5)) {
            case 0:
                changed.resize(d.below(changed.size()));
                break;
            case 1:
                changed.resize(changed.size() + d.of_any_size(8));
                break;
            default:  // a number, the highest byte first
                for (std::size_t i = 0, width = 1 + d.below(4); i < width && at + i < changed.size(); ++i)
                    changed[at + i] = static_cast<std::byte>(value >> 8 * (width - 1 - i));
        }
    }
    return changed;
}

}  // namespace posy::hostile
