// DCSO's bloom: u64 flags (the low byte is 1), u64 items planned, f64 rate, u64 hashes, u64 bits, u64 items,
// the array in words of 64 bits, then data of the user's; all little-endian. Files may be gzipped as a whole.
//
// Its generator multiplies modulo 2^64 and then takes the remainder by the largest prime below 2^64.
#include <bit>
#include <cmath>
#include <numbers>

#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

constexpr std::size_t dcso_head = 48;

void place_dcso(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    constexpr std::uint64_t prime = 18446744073709551557u, generator = 18446744073709550147u;
    std::uint64_t h = fnv1(key) % prime;
    for (std::uint64_t& place : places) {
        h = h * generator % prime;
        place = h % how.bits;
    }
}

std::uint64_t word_at(byte_view bytes, std::size_t at) {
    return load_little<std::uint64_t>(bytes.data() + at);
}

// The bytes of the array, if there are as many behind the head.
std::optional<std::uint64_t> array_of(byte_view bytes) {
    const std::uint64_t bits = word_at(bytes, 32);
    if (bits == 0 || bits > 8 * std::uint64_t{bytes.size()}) return std::nullopt;
    const std::uint64_t size = (bits + 63) / 64 * 8;
    if (size > bytes.size() - dcso_head) return std::nullopt;
    return size;
}

// Without the user's data.
std::optional<std::uint64_t> whole_dcso(byte_view bytes) {
    if (bytes.size() < dcso_head || word_at(bytes, 0) != 1) return std::nullopt;
    const auto rate = std::bit_cast<double>(word_at(bytes, 16));
    if (!(rate > 0 && rate < 1) || !check_hashes(word_at(bytes, 24), 24)) return std::nullopt;
    return dcso_head + (word_at(bytes, 32) / 64 + (word_at(bytes, 32) % 64 != 0)) * 8;
}

bool is_dcso(byte_view bytes) { return whole_dcso(bytes) && array_of(bytes); }

any_filter dcso_filter(byte_view head, placed_bits bits, byte_view tail) {
    return owned<array_filter>(
        array_filter::form{
            .dialect = dialect::dcso,
            .hash = "FNV-1, 64 bits",
            .count_at = 40,
            .planned = foreign_filter::purpose{word_at(head, 8), std::bit_cast<double>(word_at(head, 16))}},
        std::vector<std::byte>(head.begin(), head.end()), std::move(bits),
        std::vector<std::byte>(tail.begin(), tail.end()));
}

any_filter read_dcso(byte_view bytes, const dialect_options&) {
    if (auto whole = check_size(bytes, dcso_head, "DCSO's bloom"); !whole) return whole.error();
    if (bytes[0] != std::byte{1}) return error::unsupported("a filter of another version of DCSO's bloom", 0);
    const auto rate = std::bit_cast<double>(word_at(bytes, 16));
    if (!(rate > 0 && rate < 1)) return error::damaged("a rate that is not between 0 and 1", 16);
    if (auto right = check_hashes(word_at(bytes, 24), 24); !right) return right.error();
    const auto size = array_of(bytes);
    if (!size)
        return error::damaged("an array of " + std::to_string(word_at(bytes, 32)) + " bits where " +
                                  std::to_string(bytes.size() - dcso_head) + " bytes are left",
                              32);
    const placing how{
        .bits = word_at(bytes, 32), .hashes = static_cast<unsigned>(word_at(bytes, 24)), .place = place_dcso};
    return dcso_filter(bytes.first(dcso_head), placed_bits(how, bytes.subspan(dcso_head, *size)),
                       bytes.subspan(dcso_head + *size));
}

result<placing> dcso_size(const wanted& w) {
    const double bits = std::max(1.0, std::floor(classical_bits(w.items, w.rate)));
    if (bits >= 0x1p63) return error::too_large("a filter of DCSO's bloom has fewer than 2^63 bits");
    const double hashes = std::ceil(std::numbers::ln2 * bits / static_cast<double>(w.items));
    if (hashes > 255) return too_many_hashes();
    return placing{.bits = static_cast<std::uint64_t>(bits),
                   .hashes = static_cast<unsigned>(hashes),
                   .place = place_dcso};
}

any_filter make_dcso(const wanted& w, const placing& how) {
    std::vector<std::byte> head;
    for (const std::uint64_t word : {std::uint64_t{1}, w.items, std::bit_cast<std::uint64_t>(w.rate),
                                     std::uint64_t{how.hashes}, how.bits, std::uint64_t{0}})
        append_little(head, word);
    return dcso_filter(head, placed_bits(how, std::vector<std::byte>((how.bits + 63) / 64 * 8)), {});
}

}  // namespace

const grammar dcso{
    .fits = is_dcso, .read = read_dcso, .size = dcso_size, .make = make_dcso, .whole = whole_dcso};

}  // namespace posy::foreign
