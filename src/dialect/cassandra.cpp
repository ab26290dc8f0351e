// Filter.db of Cassandra since its version 4: i32 hashes, i32 words, both big-endian, then the array. A key
// is the bytes of a partition key. (Before version 4 the words had another order of bytes, which nothing in
// the file tells.)
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

constexpr std::size_t cassandra_head = 8;
constexpr std::uint64_t excess_bits = 20;  // of every array that Cassandra makes
constexpr unsigned most_bits_per_item = 20;

void place_cassandra(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    auto [step, sum] = murmur3_of_cassandra(key);
    for (std::uint64_t& place : places) {
        place = static_cast<std::uint64_t>(
            std::abs(static_cast<std::int64_t>(sum) % static_cast<std::int64_t>(how.bits)));
        sum += step;
    }
}

// The rate as Cassandra's table has it: with three digits, but for one entry that has two.
double tabulated_rate(unsigned bits_per_item, unsigned hashes) {
    if (bits_per_item == 5 && hashes == 3) return 0.092;
    std::array<char, 16> digits{};
    const double rate = std::pow(-std::expm1(-double(hashes) / bits_per_item), hashes);
    const auto written = std::to_chars(digits.begin(), digits.end(), rate, std::chars_format::scientific, 2);
    double rounded = 1;
    std::from_chars(digits.begin(), written.ptr, rounded);
    return rounded;
}

unsigned best_hashes(unsigned bits_per_item) {
    unsigned best = 1;
    while (tabulated_rate(bits_per_item, best + 1) < tabulated_rate(bits_per_item, best)) ++best;
    return best;
}

// The fewest bits per item that reach the rate, and then the fewest hashes that still do. For rates that two
// bits and one hash reach, Cassandra takes one bit and two hashes instead, whose rate is 0.75; so it is here.
result<placing> cassandra_size(const wanted& w) {
    unsigned bits = 2;
    while (bits <= most_bits_per_item && tabulated_rate(bits, best_hashes(bits)) > w.rate) ++bits;
    if (bits > most_bits_per_item)
        return error::invalid(
            "Cassandra's filters have at most 20 bits per item, and rates from 6.71e-05 on");
    unsigned hashes = best_hashes(bits);
    while (hashes > 1 && tabulated_rate(bits, hashes - 1) <= w.rate) --hashes;
    if (bits == 2) std::swap(bits, hashes);
    constexpr std::uint64_t most_words = (std::uint64_t{1} << 31) - 1;
    if (w.items > (64 * most_words - excess_bits) / bits)
        return error::too_large("the format has fewer than 2^31 words of 64 bits; " +
                                std::to_string(w.items) + " items at this rate need more");
    return placing{
        .bits = (w.items * bits + excess_bits + 63) / 64 * 64, .hashes = hashes, .place = place_cassandra};
}

any_filter cassandra_filter(placed_bits bits) {
    std::vector<std::byte> head;
    append_big(head, std::uint32_t{bits.how().hashes});
    append_big(head, static_cast<std::uint32_t>(bits.how().bits / 64));
    return owned<array_filter>(
        array_filter::form{.dialect = dialect::cassandra, .hash = "Murmur3, 128 bits, Cassandra's"},
        std::move(head), std::move(bits));
}

// No filter of its own has more hashes than 14.
std::optional<std::uint64_t> whole_cassandra(byte_view bytes) {
    if (bytes.size() <= cassandra_head) return std::nullopt;
    const auto hashes = load_big<std::uint32_t>(bytes.data());
    if (hashes < 1 || hashes > best_hashes(most_bits_per_item)) return std::nullopt;
    return cassandra_head + 8 * std::uint64_t{load_big<std::uint32_t>(bytes.data() + 4)};
}

bool is_cassandra(byte_view bytes) { return whole_cassandra(bytes) == bytes.size(); }

any_filter read_cassandra(byte_view bytes, const dialect_options&) {
    if (auto whole = check_size(bytes, cassandra_head, "Cassandra"); !whole) return whole.error();
    const std::uint64_t words = load_big<std::uint32_t>(bytes.data() + 4);
    if (auto right = check_array(bytes, cassandra_head, words, "Cassandra"); !right) return right.error();
    const auto hashes = load_big<std::uint32_t>(bytes.data());
    if (auto right = check_hashes(hashes, 0); !right) return right.error();
    return cassandra_filter(placed_bits({.bits = 64 * words, .hashes = hashes, .place = place_cassandra},
                                        bytes.subspan(cassandra_head)));
}

any_filter make_cassandra(const wanted&, const placing& how) { return cassandra_filter(placed_bits(how)); }

}  // namespace

const grammar cassandra{.fits = is_cassandra,
                        .read = read_cassandra,
                        .size = cassandra_size,
                        .make = make_cassandra,
                        .whole = whole_cassandra};

}  // namespace posy::foreign
