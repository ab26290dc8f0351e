// A filter of LevelDB's NewBloomFilterPolicy(), as it stands in a filter block: the array, then a byte with
// the number of hashes. The filters of blocks that RocksDB once had are the same.
//
// Above 30 hashes the byte stands for a format to come, which says yes to every key.
//
// A key has 32 bits of hash, and the step is a rotation of them. So the third place, h + 2·rotr(h, 17), is
// always (2^16 + 1)·(2a + b) for the upper 15 bits a and the lower 17 bits b of h: fewer than 200,000 places,
// which a large filter fills. Its rate is several times that of independent places, and the number of its
// ones tells nothing of its keys; in a small one each of its bits is one of many of these places, and it
// does.
#include <algorithm>
#include <bit>
#include <cmath>

#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

constexpr unsigned most_leveldb_hashes = 30;
constexpr std::uint64_t most_bits_that_count = std::uint64_t{1} << 15;

// Visits places until one of them is refused.
template <class Visit>
bool all_places(const placing& how, std::uint32_t h, const Visit& visit) {
    const std::uint32_t step = std::rotr(h, 17);
    for (unsigned i = 0; i < how.hashes; ++i, h += step)
        if (!visit(i, h % how.bits)) return false;
    return true;
}

void place_leveldb(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    all_places(how, leveldb_hash(key), [&](unsigned i, std::uint64_t place) {
        places[i] = place;
        return true;
    });
}

// Of hashes spread evenly over all that there are: exact within 3 % down to rates of 10^-4, because 1,000
// hits or 10 million questions end it.
double rate_of_hashes(const placed_bits& bits) {
    constexpr std::uint32_t step = 2654435769;  // odd, 2^32 divided by the golden ratio
    const byte_view array = bits.bytes();
    std::uint32_t asked = 0;
    unsigned hits = 0;
    while (asked < 10'000'000 && hits < 1000) {
        hits += all_places(bits.how(), asked++ * step, [&](unsigned, std::uint64_t place) {
            return (array[place / 8] >> (place % 8) & std::byte{1}) != std::byte{0};
        });
    }
    return static_cast<double>(hits) / asked;
}

any_filter leveldb_filter(placed_bits bits) {
    const auto hashes = static_cast<std::byte>(bits.how().hashes);
    return owned<array_filter>(array_filter::form{.dialect = dialect::leveldb,
                                                  .hash = "LevelDB's",
                                                  .rate = rate_of_hashes,
                                                  .counts = bits.how().bits <= most_bits_that_count,
                                                  .planned = classical_purpose(bits.how(), true)},
                               std::vector<std::byte>{}, std::move(bits), std::vector<std::byte>{hashes});
}

error too_large_for_leveldb(error::place at = {}) {
    return error::too_large("a filter of LevelDB has fewer than 2^32 bits", at);
}

any_filter read_leveldb(byte_view bytes, const dialect_options&) {
    if (auto whole = check_size(bytes, 2, "LevelDB"); !whole) return whole.error();
    const auto hashes = std::to_integer<unsigned>(bytes.back());
    if (hashes < 1 || hashes > most_leveldb_hashes)
        return error::damaged("a filter of LevelDB has 1 to 30 hashes, not " + std::to_string(hashes),
                              bytes.size() - 1);
    const byte_view array = bytes.first(bytes.size() - 1);
    if (array.size() >= std::size_t{1} << 29) return too_large_for_leveldb(0);
    return leveldb_filter(placed_bits(
        {.bits = 8 * std::uint64_t{array.size()}, .hashes = hashes, .place = place_leveldb}, array));
}

// LevelDB is told bits per key, and takes 0.69 of them as hashes.
result<placing> leveldb_size(const wanted& w) {
    const double per_item = std::ceil(-std::log(w.rate) / 0.480453013918201);
    const double bytes = std::ceil(std::max(64.0, per_item * static_cast<double>(w.items)) / 8);
    if (bytes >= 0x1p29) return too_large_for_leveldb();
    return placing{.bits = 8 * static_cast<std::uint64_t>(bytes),
                   .hashes = std::clamp(static_cast<unsigned>(per_item * 0.69), 1U, most_leveldb_hashes),
                   .place = place_leveldb};
}

any_filter make_leveldb(const wanted&, const placing& how) { return leveldb_filter(placed_bits(how)); }

// That another key has the hash of one of these.
double rate_of_shared_hashes(std::uint64_t items) {
    return -std::expm1(-static_cast<double>(items) * 0x1p-32);
}

}  // namespace

const grammar leveldb{
    .read = read_leveldb, .size = leveldb_size, .make = make_leveldb, .least_rate = rate_of_shared_hashes};

}  // namespace posy::foreign
