// A Bloom filter of RocksDB since its format 5 ("fast local"), as it stands in a table: lines of 64 bytes,
// then five bytes that tell what it is. All bits of a key are in one line: the lower half of the key's hash
// chooses it, the upper half, multiplied by the golden ratio again and again, the places.
//
// RocksDB is told bits per key, in thousandths; its numbers of hashes come from a table that it measured.
// A Ribbon filter ends in other bytes; it is no array of bits, and is refused.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

constexpr std::size_t line_bytes = 64, tail_bytes = 5;
constexpr std::uint64_t line_bits = 8 * line_bytes;
constexpr std::uint64_t most_bytes = 0xffffffc0;  // RocksDB counts them in 32 bits
constexpr unsigned least_millibits = 1000, most_millibits = 100'000;
constexpr unsigned most_rocksdb_hashes = 30;  // that it reads; it writes up to 24
constexpr std::byte bloom_mark{0xff}, ribbon_mark{0xfe};

void place_in_line(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    const std::uint64_t hash = xxh3_preview(key);
    const std::uint64_t line = (hash & 0xffffffff) * (how.bits / line_bits) >> 32;
    auto h = static_cast<std::uint32_t>(hash >> 32);
    for (std::uint64_t& place : places) {
        place = line * line_bits + (h >> 23);
        h *= 0x9e3779b9;
    }
}

// The hashes that RocksDB takes for so many thousandths of a bit per key.
unsigned hashes_for(unsigned millibits) {
    constexpr std::array<unsigned, 12> up_to{2080,   3580,   5100,   6640,   8300,   10'070,
                                             11'720, 14'001, 16'050, 18'300, 22'001, 25'501};
    if (millibits <= up_to.back())
        return 1 + static_cast<unsigned>(std::ranges::lower_bound(up_to, millibits) - up_to.begin());
    return millibits > 50'000 ? 24 : (millibits - 1) / 2000 - 1;
}

// The rate of a filter with as many keys as it was made for: a line has N keys, Poisson with mean
// 512 / bits per key, and then 1 - (1 - 1/512)^(kN) of its bits are ones on average (003, section 2.1).
double rate_with(unsigned millibits) {
    const unsigned hashes = hashes_for(millibits);
    const double keys = line_bits / (millibits / 1000.0);
    const auto last = static_cast<unsigned>(keys + 12 * std::sqrt(keys) + 20);
    double sum = 0;
    for (unsigned n = 0; n <= last; ++n) {
        const double odds = std::exp(n * std::log(keys) - keys - std::lgamma(n + 1.0));
        sum += odds * std::pow(-std::expm1(hashes * n * std::log1p(-1.0 / line_bits)), hashes);
    }
    return sum;
}

// The first number of them for which this holds, of two between which it begins to.
template <class Holds>
unsigned first_millibits(unsigned below, unsigned from, const Holds& holds) {
    while (from - below > 1) {
        const unsigned middle = below + (from - below) / 2;
        (holds(middle) ? from : below) = middle;
    }
    return from;
}

// What a number of hashes tells: the middle of the sizes for which RocksDB takes it.
std::optional<foreign_filter::purpose> told_by(const placing& how) {
    if (how.hashes >= hashes_for(most_millibits)) return std::nullopt;
    const auto first_with = [](unsigned hashes) {
        return first_millibits(least_millibits - 1, most_millibits,
                               [&](unsigned each) { return hashes_for(each) >= hashes; });
    };
    const unsigned millibits = (first_with(how.hashes) + first_with(how.hashes + 1)) / 2;
    return foreign_filter::purpose{
        .items = how.bits * 1000 / millibits, .rate = rate_with(millibits), .stated = false};
}

double rate_of_lines(const placed_bits& bits) {
    double sum = 0;
    for (std::size_t line = 0; line < bits.bytes().size(); line += line_bytes) {
        int ones = 0;
        for (std::size_t word = line; word < line + line_bytes; word += 8)
            ones += std::popcount(load_little<std::uint64_t>(bits.bytes().data() + word));
        sum += std::pow(static_cast<double>(ones) / line_bits, bits.how().hashes);
    }
    return sum / (static_cast<double>(bits.how().bits) / line_bits);
}

any_filter rocksdb_filter(placed_bits bits) {
    std::vector<std::byte> tail{bloom_mark, std::byte{0}, static_cast<std::byte>(bits.how().hashes),
                                std::byte{0}, std::byte{0}};
    return owned<array_filter>(array_filter::form{.dialect = dialect::rocksdb,
                                                  .hash = "XXH3 as of its preview",
                                                  .rate = rate_of_lines,
                                                  .bits_of_block = line_bits,
                                                  .places_repeat = true,
                                                  .planned = told_by(bits.how())},
                               std::vector<std::byte>{}, std::move(bits), std::move(tail));
}

placing lines_of(std::uint64_t bytes, unsigned hashes) {
    return {.bits = 8 * bytes, .hashes = hashes, .place = place_in_line};
}

result<void> check_tail(byte_view tail, std::uint64_t at) {
    if (tail[0] == ribbon_mark)
        return error::unsupported(
            "a Ribbon filter of RocksDB, which is no array of bits; Posy reads its Bloom filters alone "
            "(NewBloomFilterPolicy)",
            at);
    if (tail[0] != bloom_mark)
        return error::damaged(
            "not the end of a Bloom filter of RocksDB's format 5 or later; older ones are not read, except "
            "the "
            "filters of its blocks, which are of the format leveldb",
            at);
    const auto hashes = std::to_integer<unsigned>(tail[2]);
    if (tail[1] != std::byte{0} || tail[3] != std::byte{0} || tail[4] != std::byte{0} || hashes >= 32)
        return error::unsupported("a kind of Bloom filter that RocksDB has reserved for later", at + 1);
    if (hashes < 1 || hashes > most_rocksdb_hashes)
        return error::damaged("a filter of RocksDB has 1 to 30 hashes, not " + std::to_string(hashes),
                              at + 2);
    return {};
}

bool is_zero(std::byte each) { return each == std::byte{0}; }

bool is_whole(byte_view bytes) {
    return bytes.size() > tail_bytes && (bytes.size() - tail_bytes) % line_bytes == 0 &&
           bytes.size() - tail_bytes <= most_bytes;
}

bool is_rocksdb(byte_view bytes) { return is_whole(bytes) && check_tail(bytes.last(tail_bytes), 0); }

any_filter read_rocksdb(byte_view bytes, const dialect_options&) {
    if (bytes.size() == tail_bytes || (bytes.size() == 6 && std::ranges::all_of(bytes, is_zero)))
        return error::unsupported(
            "a filter of RocksDB without an array, which says no or yes to every key; there is nothing to "
            "read");
    if (auto whole = check_size(bytes, line_bytes + tail_bytes, "RocksDB"); !whole) return whole.error();
    const byte_view tail = bytes.last(tail_bytes);
    if (auto known = check_tail(tail, bytes.size() - tail_bytes); !known) return known.error();
    if (!is_whole(bytes))
        return error::damaged(
            "a filter of RocksDB has whole lines of 64 bytes, fewer than 2^32 bytes, and five bytes more",
            bytes.size());
    return rocksdb_filter(placed_bits(lines_of(bytes.size() - tail_bytes, std::to_integer<unsigned>(tail[2])),
                                      bytes.first(bytes.size() - tail_bytes)));
}

result<placing> rocksdb_size(const wanted& w) {
    if (w.rate < rate_with(most_millibits))
        return error::invalid(
            "a filter of RocksDB has at most 100 bits per key, which are not enough for this rate");
    const unsigned millibits = first_millibits(least_millibits - 1, most_millibits,
                                               [&](unsigned each) { return rate_with(each) <= w.rate; });
    if (w.items > most_bytes * 8000 / millibits)
        return error::too_large("a filter of RocksDB has fewer than 2^32 bytes");
    const std::uint64_t bytes = (w.items * millibits + 7999) / 8000;
    return lines_of((bytes + line_bytes - 1) / line_bytes * line_bytes, hashes_for(millibits));
}

any_filter make_rocksdb(const wanted&, const placing& how) { return rocksdb_filter(placed_bits(how)); }

}  // namespace

const grammar rocksdb{is_rocksdb, read_rocksdb, rocksdb_size, make_rocksdb};

}  // namespace posy::foreign
