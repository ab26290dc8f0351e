// org.apache.hadoop.util.bloom, whose four filters begin alike: i32 -1, i32 hashes, i8 hash (0 is Jenkins', 1
// Murmur), i32 bits, big-endian. In files before that version the first number is that of the hashes, which
// are Jenkins', and the bits follow. Then
//
//   BloomFilter            the array
//   CountingBloomFilter    counters of 4 bits, 16 in a word of 64, the lowest first; 15 stays 15
//   DynamicBloomFilter     i32 items of a row, i32 items of the last row, i32 rows, each of them a
//   BloomFilter RetouchedBloomFilter   the array; of each bit the keys that may be cleared; of each bit the
//   keys set; of each
//                          bit a ratio
#include "hadoop.hpp"

#include <cmath>

#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

// Each hash is the seed of the next.
void place_hadoop(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    const auto hash = how.variant == jenkins ? lookup3 : murmur2_of_hadoop;
    const auto bits = static_cast<std::int32_t>(how.bits);
    std::uint32_t h = 0;
    for (std::uint64_t& place : places) {
        h = hash(key, h);
        place = static_cast<std::uint64_t>(std::abs(static_cast<std::int32_t>(h) % bits));
    }
}

std::string hash_name(const placing& how) {
    return how.variant == jenkins ? "Jenkins' lookup3" : "Murmur2 of Hadoop";
}

bool is_hadoop(byte_view bytes) {
    const auto head = read_hadoop_head(bytes);
    return head && bytes.size() - head->size == (head->how.bits + 7) / 8;
}

std::optional<std::uint64_t> whole_hadoop(byte_view bytes) {
    const auto head = sure_hadoop_head(bytes);
    if (!head) return std::nullopt;
    return head->size + (head->how.bits + 7) / 8;
}

any_filter read_hadoop(byte_view bytes, const dialect_options&) {
    const auto head = read_hadoop_head(bytes);
    if (!head) return head.error();
    const byte_view array = bytes.subspan(head->size);
    if (auto right = check_left(array, (head->how.bits + 7) / 8, head->size); !right) return right.error();
    const byte_view own = bytes.first(head->size);
    return owned<array_filter>(
        array_filter::form{.dialect = dialect::hadoop, .hash = hash_name(head->how), .rate = rate_of_31_bits},
        std::vector<std::byte>(own.begin(), own.end()), placed_bits(head->how, array));
}

any_filter make_hadoop(const wanted&, const placing& how) {
    return owned<array_filter>(
        array_filter::form{.dialect = dialect::hadoop, .hash = hash_name(how), .rate = rate_of_31_bits},
        hadoop_head_of(how), placed_bits(how));
}

}  // namespace

result<hadoop_head> read_hadoop_head(byte_view bytes) {
    if (auto whole = check_size(bytes, 8, "Hadoop"); !whole) return whole.error();
    const auto first = load_big<std::uint32_t>(bytes.data());
    const bool old = first > 0 && first <= 255;
    if (!old && first != 0xffffffff) return error::damaged("not the first number of a filter of Hadoop", 0);
    if (auto whole = check_size(bytes, old ? 8 : 13, "Hadoop"); !whole) return whole.error();
    const auto hashes = old ? first : load_big<std::uint32_t>(bytes.data() + 4);
    if (auto right = check_hashes(hashes, old ? 0 : 4); !right) return right.error();
    const auto hash = old ? jenkins : std::to_integer<std::uint32_t>(bytes[8]);
    if (hash > murmur) return error::unsupported("a hash of Hadoop that Posy does not have", 8);
    const auto bits = load_big<std::uint32_t>(bytes.data() + (old ? 4 : 9));
    if (bits == 0 || bits > 0x7fffffff)
        return error::damaged("a filter of Hadoop has 1 to 2^31 - 1 bits", old ? 4 : 9);
    return hadoop_head{old ? 8U : 13U,
                       {.bits = bits, .hashes = hashes, .variant = hash, .place = place_hadoop}};
}

std::optional<hadoop_head> sure_hadoop_head(byte_view bytes) {
    const auto head = read_hadoop_head(bytes);
    if (!head || bytes[0] != std::byte{0xff}) return std::nullopt;
    return *head;
}

std::vector<std::byte> hadoop_head_of(const placing& how) {
    std::vector<std::byte> head;
    append_big<std::uint32_t>(head, 0xffffffff);
    append_big<std::uint32_t>(head, how.hashes);
    head.push_back(static_cast<std::byte>(how.variant));
    append_big(head, static_cast<std::uint32_t>(how.bits));
    return head;
}

result<void> check_left(byte_view left, std::uint64_t wanted, std::uint64_t at) {
    if (left.size() == wanted) return {};
    return error::damaged(
        "an array of " + std::to_string(wanted) + " bytes where " + std::to_string(left.size()) + " are left",
        at);
}

// At rates next to 1 the root is 1, and no bits would be left.
result<placing> hadoop_size(const wanted& w) {
    constexpr int hashes = 5;  // of its BloomMapFile
    const double bits = std::max(
        1.0, std::ceil(-hashes * static_cast<double>(w.items) / std::log1p(-std::pow(w.rate, 1.0 / hashes))));
    if (bits > 0x7fffffff)
        return error::too_large(
            "a filter of Hadoop has fewer than 2^31 bits; use hadoop-dynamic or a higher rate");
    return placing{.bits = static_cast<std::uint64_t>(bits),
                   .hashes = hashes,
                   .variant = w.options.jenkins ? jenkins : murmur,
                   .place = place_hadoop};
}

const grammar hadoop{
    .fits = is_hadoop, .read = read_hadoop, .size = hadoop_size, .make = make_hadoop, .whole = whole_hadoop};

}  // namespace posy::foreign
