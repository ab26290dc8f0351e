// pcapng: sections of blocks, each with its kind and length in front and the length again behind.
#include <algorithm>
#include <cmath>

#include "posy/base/wide.hpp"
#include "posy/packet/capture.hpp"

namespace posy::packets {

namespace {
constexpr std::uint32_t block_section = 0x0a0d0d0a, block_interface = 1, block_obsolete = 2, block_simple = 3,
                        block_enhanced = 6;
constexpr std::uint32_t section_magic = 0x1a2b3c4d, section_magic_swapped = 0x4d3c2b1a;
constexpr std::uint16_t option_end = 0, option_resolution = 9, option_since = 14;

std::size_t padded(std::size_t length) { return (length + 3) & ~std::size_t{3}; }

// 10^n, or 2^n with the high bit set; 0 for what no 64-bit time can hold.
std::uint64_t ticks_of(unsigned resolution) {
    const unsigned power = resolution & 0x7f;
    if (resolution & 0x80) return power < 64 ? std::uint64_t{1} << power : 0;
    std::uint64_t ticks = 1;
    for (unsigned i = 0; i < power; ++i) {
        if (ticks > UINT64_MAX / 10) return 0;
        ticks *= 10;
    }
    return ticks;
}

// In nanoseconds. What lies before 1970 or after 2554 is moved there.
std::uint64_t time_of(std::uint64_t count, std::uint64_t ticks, std::int64_t since) {
    const auto seconds = static_cast<base::u128>(count / ticks);
    const auto rest = static_cast<base::u128>(count % ticks) * 1'000'000'000 / ticks;
    const auto before = since < 0 ? ~static_cast<std::uint64_t>(since) + 1 : 0;
    const base::u128 later = seconds + (since > 0 ? static_cast<std::uint64_t>(since) : 0);
    if (later < before) return 0;
    return static_cast<std::uint64_t>(
        std::min<base::u128>((later - before) * 1'000'000'000 + rest, UINT64_MAX));
}
}  // namespace

// The whole length of the block in front, or nothing: then there is damage.
std::optional<std::uint32_t> capture_reader::block_length(byte_view input, std::uint32_t kind) {
    if (kind == block_section) {
        const auto magic = load_little<std::uint32_t>(&input[8]);
        if (magic != section_magic && magic != section_magic_swapped) {
            damage("a section that does not tell its byte order", 8);
            return std::nullopt;
        }
        swapped_ = magic == section_magic_swapped;
    }
    const std::uint32_t length = number(&input[4]);
    const std::uint32_t least = kind == block_section ? 28 : 12;
    if (length % 4 == 0 && length >= least && length <= most_block) return length;
    damage("a block of " + std::to_string(length) + " bytes, which no block has", 4);
    return std::nullopt;
}

capture_reader::step capture_reader::next_block(byte_view& input, captured& into) {
    while (input.size() >= 12) {
        const std::uint32_t kind = load_little<std::uint32_t>(input.data()) == block_section
                                       ? block_section  // reads the same in both orders
                                       : number(input.data());
        const auto length = block_length(input, kind);
        if (!length) return step::damaged;
        if (input.size() < *length) return step::more;
        if (number(&input[*length - 4]) != *length)
            return damage("a block whose two lengths differ", *length - 4);
        const bool packet = read_block(kind, input.subspan(8, *length - 12), into);
        if (wrong_) return step::damaged;
        take(input, *length);
        if (packet) return step::packet;
    }
    return step::more;
}

// Is it a packet? Kinds that carry none are skipped.
bool capture_reader::read_block(std::uint32_t kind, byte_view body, captured& into) {
    switch (kind) {
        case block_section:
            section(body);
            return false;
        case block_interface:
            describe_interface(body);
            return false;
        case block_enhanced:
            return enhanced(body, into, false);
        case block_obsolete:
            return enhanced(body, into, true);
        case block_simple:
            return simple(body, into);
        default:
            return false;
    }
}

void capture_reader::section(byte_view body) {
    if (half(&body[4]) != 1)
        damage("pcapng version " + std::to_string(half(&body[4])) + "; only version 1 is known", 12);
    interfaces_.clear();
}

// link type · 0 · snap length · options
void capture_reader::describe_interface(byte_view body) {
    if (body.size() < 8) {
        damage("a description of an interface that is too short");
        return;
    }
    if (interfaces_.size() == most_interfaces) {
        damage("more than " + std::to_string(most_interfaces) + " interfaces");
        return;
    }
    interface one {
        .link = link_type_of(half(body.data())), .link_number = half(body.data()),
        .snap_length = number(&body[4])
    };
    read_options(body.subspan(8), one);
    interfaces_.push_back(one);
}

// code · length · value, padded to four bytes
void capture_reader::read_options(byte_view options, interface& of) {
    while (options.size() >= 4) {
        const std::uint16_t code = half(options.data()), length = half(&options[2]);
        if (code == option_end) return;
        if (options.size() - 4 < padded(length)) {
            damage("an option that ends beyond its block");
            return;
        }
        const std::byte* value = options.data() + 4;
        if (code == option_resolution && length == 1) {
            of.ticks = ticks_of(std::to_integer<unsigned>(*value));
            if (of.ticks == 0) damage("an interface whose time is finer than 64 bits can hold");
        } else if (code == option_since && length == 8) {
            const std::uint64_t first = number(value), second = number(value + 4);
            of.since = static_cast<std::int64_t>(swapped_ ? first << 32 | second : second << 32 | first);
        }
        options = options.subspan(4 + padded(length));
    }
}

// interface · time, high half first · captured length · original length · the frame · options
// The obsolete form has 16 bits for the interface and 16 for drops in the place of the first.
bool capture_reader::enhanced(byte_view body, captured& into, bool obsolete) {
    if (body.size() < 20) return damage("a packet block that is too short"), false;
    const std::uint32_t which = obsolete ? half(body.data()) : number(body.data());
    const std::uint32_t length = number(&body[12]);
    if (which >= interfaces_.size())
        return damage("a packet of interface " + std::to_string(which) + ", which was not described", 8),
               false;
    if (length > most_captured || padded(length) > body.size() - 20)
        return damage("a packet of " + std::to_string(length) + " bytes, more than its block has", 20), false;
    const interface& from = interfaces_[which];
    const std::uint64_t count = std::uint64_t{number(&body[4])} << 32 | number(&body[8]);
    into.time = time_of(count, from.ticks, from.since);
    into.original_length = number(&body[16]);
    into.link = from.link;
    into.link_number = from.link_number;
    into.frame = body.subspan(20, length);
    return true;
}

// original length · the frame, of the first interface and without a time
bool capture_reader::simple(byte_view body, captured& into) {
    if (body.size() < 4 || interfaces_.empty())
        return damage("a simple packet block without an interface or a length"), false;
    const interface& from = interfaces_[0];
    into.original_length = number(body.data());
    std::uint32_t length = into.original_length;
    if (from.snap_length != 0) length = std::min(length, from.snap_length);
    if (length > most_captured || padded(length) > body.size() - 4)
        return damage("a packet of " + std::to_string(length) + " bytes, more than its block has", 8), false;
    into.time = 0;
    into.link = from.link;
    into.link_number = from.link_number;
    into.frame = body.subspan(4, length);
    return true;
}

}  // namespace posy::packets
