// Both formats: how they begin, and pcap, which is a header and records.
#include "posy/packet/capture.hpp"

#include <utility>

namespace posy::packets {

namespace {
constexpr std::uint32_t magic_micro = 0xa1b2c3d4, magic_nano = 0xa1b23c4d, magic_section = 0x0a0d0d0a;

template <class Unsigned>
Unsigned swapped(Unsigned value) {
    Unsigned other = 0;
    for (std::size_t i = 0; i < sizeof value; ++i, value = static_cast<Unsigned>(value >> 8))
        other = static_cast<Unsigned>(other << 8 | (value & 0xff));
    return other;
}
}  // namespace

std::uint16_t capture_reader::half(const std::byte* at) const {
    const auto value = load_little<std::uint16_t>(at);
    return swapped_ ? swapped(value) : value;
}

capture_reader::step capture_reader::damage(std::string what, std::uint64_t inside) {
    wrong_ = error::damaged(std::move(what), offset_ + inside);
    return step::damaged;
}

std::optional<error> capture_reader::end(std::size_t left) const {
    if (wrong_) return wrong_;
    if (format_ == format::unknown && offset_ == 0)
        return error::damaged(left == 0 ? "an empty file; a capture has at least a header"
                                        : "not a capture: neither pcap nor pcapng begins like this",
                              0);
    if (left == 0) return std::nullopt;
    return error::damaged("the capture is cut off here, inside a packet or block", offset_);
}

capture_reader::step capture_reader::next(byte_view& input, captured& into) {
    if (wrong_) return step::damaged;
    if (format_ == format::unknown) {
        const step began = begin(input);
        if (began != step::packet) return began;
    }
    return format_ == format::pcap ? next_record(input, into) : next_block(input, into);
}

// step::packet here says that the format is known now.
capture_reader::step capture_reader::begin(byte_view& input) {
    if (input.size() < 4) return step::more;
    const auto magic = load_little<std::uint32_t>(input.data());
    if (magic == magic_section) {
        format_ = format::pcapng;
        return step::packet;
    }
    return begin_pcap(input, magic);
}

// magic · version 2.4 · zone · accuracy · snap length · link type: 24 bytes
capture_reader::step capture_reader::begin_pcap(byte_view& input, std::uint32_t magic) {
    swapped_ = magic == swapped(magic_micro) || magic == swapped(magic_nano);
    if (swapped_) magic = swapped(magic);
    if (magic != magic_micro && magic != magic_nano)
        return damage("not a capture: neither pcap nor pcapng begins like this");
    if (input.size() < 24) return step::more;
    if (half(&input[4]) != 2)
        return damage("pcap version " + std::to_string(half(&input[4])) + "; only version 2 is known", 4);
    nanoseconds_ = magic == magic_nano;
    const std::uint32_t link = number(&input[20]);
    interfaces_.push_back({.link = link_type_of(link), .link_number = link});
    format_ = format::pcap;
    take(input, 24);
    return step::packet;
}

// seconds · micro- or nanoseconds · captured length · original length · the frame
capture_reader::step capture_reader::next_record(byte_view& input, captured& into) {
    if (input.size() < 16) return step::more;
    const std::uint32_t length = number(&input[8]);
    if (length > most_captured)
        return damage("a packet of " + std::to_string(length) + " bytes, above the limit of " +
                          std::to_string(most_captured),
                      8);
    if (input.size() - 16 < length) return step::more;
    into.time = 1'000'000'000ULL * number(input.data()) + number(&input[4]) * (nanoseconds_ ? 1ULL : 1000ULL);
    into.original_length = number(&input[12]);
    into.link = interfaces_[0].link;
    into.link_number = interfaces_[0].link_number;
    into.frame = input.subspan(16, length);
    take(input, 16 + length);
    return step::packet;
}

}  // namespace posy::packets
