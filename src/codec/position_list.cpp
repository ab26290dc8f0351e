#include "codec/position_list.hpp"

#include <algorithm>
#include <string>

#include "base/varint.hpp"
#include "codec/packed_bits.hpp"
#include "posy/base/wide.hpp"
#include "posy/geometry.hpp"

namespace posy::codec {

using base::u128;

std::vector<std::byte> encode_position_list(bit_view in) {
    const unsigned width = width_of(in.bits - 1);
    std::vector<std::byte> bytes;
    bytes.reserve(bytes_of(in.ones * width) + 16);
    base::put_varint(bytes, in.ones);
    bit_writer out(bytes);
    each_one(in.words, 0, [&](std::uint64_t position) { out.put(position, width); });
    out.finish();
    bytes.resize(bytes.size() + load_slack);
    return bytes;
}

result<position_list> position_list::open(byte_view bytes, std::uint64_t bits) {
    if (bits == 0 || bits > max_bits) return error::damaged("an array of " + std::to_string(bits) + " bits");
    byte_view rest = bytes;
    const auto wrong = [&](const char* what) {
        return error::damaged(std::string(what) + "; the message is damaged or from another program",
                              bytes.size() - rest.size());
    };
    const auto ones = base::take_varint(rest);
    if (!ones) return wrong("a number that is cut off or not in its shortest form");
    if (*ones > bits) return wrong("more ones than bits");
    position_list it;
    it.bits_ = bits;
    it.ones_ = *ones;
    it.width_ = width_of(bits - 1);
    constexpr std::uint64_t one = ~std::uint64_t{0};  // 1 · 2^64, nearly
    it.density_ = static_cast<std::uint64_t>(u128{one} * *ones / bits);
    const std::uint64_t size = bytes_of(*ones * it.width_);
    if (rest.size() != size + load_slack) return wrong("a list of another size than it says");
    it.positions_ = rest.data();
    if (!ends_in_zeros(it.positions_, *ones * it.width_) ||
        load_little<std::uint64_t>(it.positions_ + size) != 0) {
        return wrong("padding that is not zero");
    }
    return it;
}

inline std::uint64_t position_list::at(std::uint64_t i) const {
    return number_at(positions_, i * width_, width_);
}

inline std::uint64_t position_list::places(std::uint64_t distance) const {
    return base::scale(distance, density_);
}

bool position_list::test(std::uint64_t position) const {
    if (ones_ == 0) return false;
    constexpr std::uint64_t near = 8;
    // Starts at the expected place and corrects it by the error found there, until the error is small.
    std::uint64_t guess = std::min(places(position), ones_ - 1);
    std::uint64_t found = at(guess);
    for (unsigned look = 0; look < 3; ++look) {
        const std::uint64_t off = places(found < position ? position - found : found - position);
        if (off < near) break;
        guess = found < position ? std::min(guess + off, ones_ - 1) : guess - std::min(guess, off);
        found = at(guess);
    }
    // Strides double until the position is between two probes, then it is bisected. from <= place < to.
    std::uint64_t from = guess, to = guess + 1;
    for (std::uint64_t stride = near; from != 0 && at(from) > position; stride *= 2) {
        to = from;
        from -= std::min(from, stride);
    }
    for (std::uint64_t stride = near; to != ones_ && at(to) <= position; stride *= 2) {
        from = to;
        to += std::min(ones_ - to, stride);
    }
    while (to - from > 1) {
        const std::uint64_t middle = from + (to - from) / 2;
        const bool right = at(middle) <= position;
        from = right ? middle : from;
        to = right ? to : middle;
    }
    return at(from) == position;
}

void position_list::prefetch(std::uint64_t position) const {
    if (ones_ == 0) return;
    __builtin_prefetch(positions_ + std::min(places(position), ones_ - 1) * width_ / 8);
}

result<void> position_list::unpack(bit_room room) const {
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < ones_; ++i) {
        const std::uint64_t position = at(i);
        if (position < next || position >= bits_) {
            return error::damaged("a position out of order; the message is damaged or from another program");
        }
        room.words[position / 64] |= std::uint64_t{1} << position % 64;
        next = position + 1;
    }
    return {};
}

}  // namespace posy::codec
