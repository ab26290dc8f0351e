// A filter of LevelDB's NewBloomFilterPolicy(), as it stands in a filter block: the array, then a byte with
// the number of hashes. RocksDB's filters of whole blocks before its format 5 are the same.
//
// Above 30 hashes the byte stands for a format to come, which says yes to every key.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

constexpr unsigned most_leveldb_hashes = 30;

void place_leveldb(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    std::uint32_t h = leveldb_hash(key);
    const std::uint32_t step = std::rotr(h, 17);
    for (std::uint64_t& place : places) {
        place = h % how.bits;
        h += step;
    }
}

any_filter leveldb_filter(placed_bits bits) {
    const auto hashes = static_cast<std::byte>(bits.how().hashes);
    return owned<array_filter>(
        array_filter::form{
            .dialect = dialect::leveldb, .hash = "LevelDB's", .planned = classical_purpose(bits.how(), true)},
        std::vector<std::byte>{}, std::move(bits), std::vector<std::byte>{hashes});
}

any_filter read_leveldb(byte_view bytes, const dialect_options&) {
    if (auto whole = check_size(bytes, 2, "LevelDB"); !whole) return whole.error();
    const auto hashes = std::to_integer<unsigned>(bytes.back());
    if (hashes < 1 || hashes > most_leveldb_hashes)
        return error::damaged("a filter of LevelDB has 1 to 30 hashes, not " + std::to_string(hashes),
                              bytes.size() - 1);
    const byte_view array = bytes.first(bytes.size() - 1);
    if (array.size() >= std::size_t{1} << 29)
        return error::too_large("a filter of LevelDB has fewer than 2^32 bits", 0);
    return leveldb_filter(placed_bits(
        {.bits = 8 * std::uint64_t{array.size()}, .hashes = hashes, .place = place_leveldb}, array));
}

// LevelDB is told bits per key, and takes 0.69 of them as hashes.
any_filter make_leveldb(std::uint64_t items, double rate, const dialect_options&) {
    const double per_item = std::ceil(-std::log(rate) / 0.480453013918201);
    const auto bits = static_cast<std::uint64_t>(std::max(64.0, per_item * static_cast<double>(items)));
    if (bits >= std::uint64_t{1} << 32)
        return error::too_large("a filter of LevelDB has fewer than 2^32 bits");
    return leveldb_filter(
        placed_bits({.bits = (bits + 7) / 8 * 8,
                     .hashes = std::clamp(static_cast<unsigned>(per_item * 0.69), 1U, most_leveldb_hashes),
                     .place = place_leveldb}));
}

}  // namespace

const grammar leveldb{nullptr, read_leveldb, make_leveldb};

}  // namespace posy::foreign
