// A growing sequence of numbers in few bits each, any of which can be read at once: the directory of the
// queryable forms, where the numbers say where blocks of random bits start.
//
// Such a sequence is a straight line with a little noise. The numbers at every 64th place are stored in full;
// those between are stored as what they differ from the line between two of these. Differences from a line
// that is tied down at both ends are small: for 64 steps of deviation σ they have at most deviation 4σ, so
// about 5 + log2 σ bits each hold them all.
//
//   group width  u8        1 to 57: bits of a full number
//   width        u8        0 to 57: bits of a difference
//   least        varint    the smallest difference, zigzag: 0, −1, 1, −2, 2 … are 0, 1, 2, 3, 4 …
//   full         (⌈count / 64⌉ + 1) numbers: those at 0, 64, 128 …; and where the line of the last group ends
//   differences  count numbers, less `least`
//
// The two lists are packed bits (packed_bits.hpp), each filled up with zeros to a whole byte. Number i of
// group g = ⌊i / 64⌋ is full[g] + ⌊(full[g + 1] − full[g]) · (i mod 64) / 64⌋ + least + difference[i].
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "base/varint.hpp"
#include "codec/packed_bits.hpp"

namespace posy::codec {

class line_table {
  public:
    // Appends the coding of `numbers` (at least one, none below the one before it, the last at most `end`).
    static void encode(std::span<const std::uint64_t> numbers, std::uint64_t end,
                       std::vector<std::byte>& to) {
        const std::uint64_t groups = groups_of(numbers.size());
        const std::uint64_t last = (groups - 1) * group_size;
        // The last group may be short: its line goes on to where a whole group would end.
        const std::uint64_t beyond =
            numbers[last] + (end - numbers[last]) * group_size / (numbers.size() - last);
        const auto full = [&](std::uint64_t g) { return g == groups ? beyond : numbers[g * group_size]; };
        const auto difference = [&](std::uint64_t i) {
            const std::uint64_t g = i / group_size;
            return static_cast<std::int64_t>(numbers[i] - on_line(full(g), full(g + 1), i % group_size));
        };
        std::int64_t least = 0, most = 0;
        for (std::uint64_t i = 0; i < numbers.size(); ++i) {
            least = std::min(least, difference(i));
            most = std::max(most, difference(i));
        }
        const unsigned group_width = std::max(width_of(beyond), 1u);
        const unsigned width = width_of(static_cast<std::uint64_t>(most - least));
        to.push_back(static_cast<std::byte>(group_width));
        to.push_back(static_cast<std::byte>(width));
        base::put_varint(to,
                         static_cast<std::uint64_t>(least) << 1 ^ static_cast<std::uint64_t>(least >> 63));
        bit_writer fulls(to);
        for (std::uint64_t g = 0; g <= groups; ++g) fulls.put(full(g), group_width);
        fulls.finish();
        bit_writer differences(to);
        for (std::uint64_t i = 0; i < numbers.size(); ++i) {
            differences.put(static_cast<std::uint64_t>(difference(i) - least), width);
        }
        differences.finish();
    }

    // Takes the coding of `count` numbers from the front of `from`; nothing if it is not valid. The numbers
    // are not checked to ascend; callers that need it must check. `load_slack` bytes must follow. A table has
    // at least one bit for 64 numbers, so going through it takes a time that the size of the input bounds.
    // Precondition: count < 2^50.
    static std::optional<line_table> take(byte_view& from, std::uint64_t count) {
        line_table it;
        if (from.size() < 2) return std::nullopt;
        it.group_width_ = std::to_integer<std::uint8_t>(from[0]);
        it.width_ = std::to_integer<std::uint8_t>(from[1]);
        if (it.group_width_ == 0 || it.group_width_ > max_width || it.width_ > max_width) return std::nullopt;
        byte_view rest = from.subspan(2);
        const auto least = base::take_varint(rest);
        if (!least) return std::nullopt;
        it.least_ = *least >> 1 ^ (0 - (*least & 1));
        const std::uint64_t full_bits = (groups_of(count) + 1) * it.group_width_;
        const std::uint64_t size = bytes_of(full_bits) + bytes_of(count * it.width_);
        if (rest.size() < size + load_slack) return std::nullopt;
        it.full_ = rest.data();
        it.differences_ = rest.data() + bytes_of(full_bits);
        if (!ends_in_zeros(it.full_, full_bits) || !ends_in_zeros(it.differences_, count * it.width_)) {
            return std::nullopt;
        }
        from = rest.subspan(size);
        return it;
    }

    [[gnu::always_inline]] std::uint64_t operator[](std::uint64_t i) const {
        const std::uint64_t at = i / group_size * group_width_;
        return on_line(number_at(full_, at, group_width_), number_at(full_, at + group_width_, group_width_),
                       i % group_size) +
               least_ + number_at(differences_, i * width_, width_);
    }

  private:
    static constexpr std::uint64_t group_size = 64;
    static constexpr std::uint64_t groups_of(std::uint64_t count) {
        return (count + group_size - 1) / group_size;
    }
    static constexpr std::uint64_t on_line(std::uint64_t start, std::uint64_t next, std::uint64_t i) {
        return start + (next - start) * i / group_size;
    }

    const std::byte* full_ = nullptr;
    const std::byte* differences_ = nullptr;
    std::uint64_t least_ = 0;
    std::uint8_t group_width_ = 1, width_ = 0;
};

}  // namespace posy::codec
