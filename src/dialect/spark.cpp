// org.apache.spark.util.sketch.BloomFilter, in both versions of its stream:
//
//   i32 1, i32 hashes, i32 words, u64[words]                 version 1
//   i32 2, i32 hashes, i32 seed, i32 words, u64[words]       version 2, of Spark 4
//
// big-endian. A key has two hashes, the first of which is the seed of the second. In version 1 their sums
// have 32 bits, so that arrays above 2^31 bits fill unevenly; version 2 mends that.
#include "dialects.hpp"
#include "foreign_hashes.hpp"

namespace posy::foreign {
namespace {

std::int64_t without_sign(std::int64_t c) { return c < 0 ? ~c : c; }

void place_v1(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    const std::uint32_t first = murmur3_of_spark(key, 0), second = murmur3_of_spark(key, first);
    place_by_sums(how, first, second, places);
}

void place_v2(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    const std::uint32_t first = murmur3_of_spark(key, how.variant), second = murmur3_of_spark(key, first);
    auto c = std::int64_t{static_cast<std::int32_t>(first)} * 0x7fffffff;
    for (std::uint64_t& place : places) {
        c += static_cast<std::int32_t>(second);
        place = static_cast<std::uint64_t>(without_sign(c)) % how.bits;
    }
}

any_filter spark_filter(const placing& how, std::optional<byte_view> bits) {
    const bool second = how.place == place_v2;
    std::vector<std::byte> head;
    append_big<std::uint32_t>(head, second ? 2 : 1);
    append_big<std::uint32_t>(head, how.hashes);
    if (second) append_big<std::uint32_t>(head, how.variant);
    append_big<std::uint32_t>(head, static_cast<std::uint32_t>(how.bits / 64));
    return owned<array_filter>(
        array_filter::form{
            .dialect = second ? dialect::spark_v2 : dialect::spark_v1,
            .hash = second ? "Murmur3 of Spark, seed " + std::to_string(how.variant) : "Murmur3 of Spark",
            .words_are_big_endian = true,
            .rate = second ? nullptr : rate_of_31_bits,
            .planned = classical_purpose(how)},
        std::move(head), bits ? placed_bits(how, with_words_turned(*bits)) : placed_bits(how));
}

template <bool second>
constexpr std::size_t head_size = second ? 16 : 12;

template <bool second>
bool is_spark(byte_view bytes) {
    constexpr std::size_t head = head_size<second>;
    return bytes.size() >= head && load_big<std::uint32_t>(bytes.data()) == (second ? 2 : 1) &&
           bytes.size() == head + 8 * std::uint64_t{load_big<std::uint32_t>(bytes.data() + head - 4)};
}

template <bool second>
std::optional<std::uint64_t> whole_spark(byte_view bytes) {
    constexpr std::size_t head = head_size<second>;
    if (bytes.size() < head || load_big<std::uint32_t>(bytes.data()) != (second ? 2 : 1)) return std::nullopt;
    const std::uint64_t words = load_big<std::uint32_t>(bytes.data() + head - 4);
    if (!check_hashes(load_big<std::uint32_t>(bytes.data() + 4), 4) || words >> 31 != 0) return std::nullopt;
    return head + 8 * words;
}

template <bool second>
any_filter read_spark(byte_view bytes, const dialect_options&) {
    constexpr std::size_t head = head_size<second>;
    if (auto whole = check_size(bytes, head, "Spark"); !whole) return whole.error();
    if (load_big<std::uint32_t>(bytes.data()) != (second ? 2 : 1))
        return error::damaged("a filter of Spark of another version, or none", 0);
    const std::uint64_t words = load_big<std::uint32_t>(bytes.data() + head - 4);
    if (auto right = check_array(bytes, head, words, "Spark"); !right) return right.error();
    const auto hashes = load_big<std::uint32_t>(bytes.data() + 4);
    if (auto right = check_hashes(hashes, 4); !right) return right.error();
    return spark_filter({.bits = 64 * words,
                         .hashes = hashes,
                         .variant = second ? load_big<std::uint32_t>(bytes.data() + 8) : 0,
                         .place = second ? place_v2 : place_v1},
                        bytes.subspan(head));
}

template <bool second>
result<placing> spark_size(const wanted& w) {
    auto how = java_size(w);
    if (!how) return how;
    how->variant = second ? w.options.seed : 0;
    how->place = second ? place_v2 : place_v1;
    return how;
}

any_filter make_spark(const wanted&, const placing& how) { return spark_filter(how, {}); }

}  // namespace

void place_by_sums(const placing& how, std::uint32_t first, std::uint32_t second,
                   std::span<std::uint64_t> places) {
    for (std::uint32_t i = 0; i < places.size(); ++i) {
        const auto c = static_cast<std::int32_t>(first + (i + 1) * second);
        places[i] = static_cast<std::uint64_t>(c < 0 ? ~c : c) % how.bits;
    }
}

const grammar spark_v1{.fits = is_spark<false>,
                       .read = read_spark<false>,
                       .size = spark_size<false>,
                       .make = make_spark,
                       .whole = whole_spark<false>};
const grammar spark_v2{.fits = is_spark<true>,
                       .read = read_spark<true>,
                       .size = spark_size<true>,
                       .make = make_spark,
                       .whole = whole_spark<true>};

}  // namespace posy::foreign
