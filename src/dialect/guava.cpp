// com.google.common.hash.BloomFilter: i8 strategy, u8 hashes, i32 words, u64[words], big-endian. Keys are
// what a funnel makes of them: text as UTF-8 (stringFunnel) or as UTF-16 (unencodedCharsFunnel), a long as
// its eight bytes.
#include <algorithm>
#include <cmath>

#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

constexpr std::size_t guava_head = 6;

void place_narrow(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    const std::uint64_t hash = murmur3_128(key).first;
    place_by_sums(how, static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32), places);
}

void place_wide(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    auto [c, step] = murmur3_128(key);
    for (std::uint64_t& place : places) {
        place = (c & ~(std::uint64_t{1} << 63)) % how.bits;
        c += step;
    }
}

any_filter guava_filter(const placing& how, std::optional<byte_view> bits) {
    const bool wide = how.place == place_wide;
    std::vector<std::byte> head{std::byte{wide}, static_cast<std::byte>(how.hashes)};
    append_big(head, static_cast<std::uint32_t>(how.bits / 64));
    return owned<array_filter>(array_filter::form{.dialect = wide ? dialect::guava_64 : dialect::guava_32,
                                                  .hash = "Murmur3, 128 bits",
                                                  .words_are_big_endian = true,
                                                  .rate = wide ? nullptr : rate_of_31_bits,
                                                  .planned = classical_purpose(how)},
                               std::move(head),
                               bits ? placed_bits(how, with_words_turned(*bits)) : placed_bits(how));
}

template <bool wide>
bool is_guava(byte_view bytes) {
    return bytes.size() >= guava_head && bytes[0] == std::byte{wide} && bytes[1] != std::byte{0} &&
           bytes.size() == guava_head + 8 * std::uint64_t{load_big<std::uint32_t>(bytes.data() + 2)};
}

template <bool wide>
std::optional<std::uint64_t> whole_guava(byte_view bytes) {
    if (bytes.size() < guava_head || bytes[0] != std::byte{wide} || bytes[1] == std::byte{0})
        return std::nullopt;
    const std::uint64_t words = load_big<std::uint32_t>(bytes.data() + 2);
    if (words >> 31 != 0) return std::nullopt;
    return guava_head + 8 * words;
}

template <bool wide>
any_filter read_guava(byte_view bytes, const dialect_options&) {
    if (auto whole = check_size(bytes, guava_head, "Guava"); !whole) return whole.error();
    if (bytes[0] != std::byte{wide})
        return error::damaged("a filter of Guava of another strategy, or none", 0);
    const std::uint64_t words = load_big<std::uint32_t>(bytes.data() + 2);
    if (auto right = check_array(bytes, guava_head, words, "Guava"); !right) return right.error();
    const auto hashes = std::to_integer<unsigned>(bytes[1]);
    if (auto right = check_hashes(hashes, 1); !right) return right.error();
    return guava_filter({.bits = 64 * words, .hashes = hashes, .place = wide ? place_wide : place_narrow},
                        bytes.subspan(guava_head));
}

// The number of hashes follows from the rate alone, as in Guava 33.4; before, it was that of the bits per
// item.
template <bool wide>
result<placing> guava_size(const wanted& w) {
    auto how = java_size(w);
    if (!how) return how;
    how->hashes = static_cast<unsigned>(std::clamp(std::lround(-std::log2(w.rate)), 1L, 255L));
    how->place = wide ? place_wide : place_narrow;
    return how;
}

any_filter make_guava(const wanted&, const placing& how) { return guava_filter(how, {}); }

}  // namespace

const grammar guava_32{.fits = is_guava<false>,
                       .read = read_guava<false>,
                       .size = guava_size<false>,
                       .make = make_guava,
                       .whole = whole_guava<false>};
const grammar guava_64{.fits = is_guava<true>,
                       .read = read_guava<true>,
                       .size = guava_size<true>,
                       .make = make_guava,
                       .whole = whole_guava<true>};

}  // namespace posy::foreign
