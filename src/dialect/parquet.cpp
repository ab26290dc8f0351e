// Parquet's split-block filter (Putze, Sanders and Singler, 2007), as it stands in a file: a header in
// Thrift's compact protocol, then blocks of 32 bytes. A key is the plain encoding of a value: the bytes of a
// string without its length, an integer as its four or eight bytes, little-endian. Its upper 32 bits of XXH64
// choose the block, the lower ones a bit in each of the block's eight words.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <cmath>

#include "dialects.hpp"

namespace posy::foreign {
namespace {

constexpr std::uint64_t block_bits = 256;
constexpr std::uint64_t most_parquet_bytes = std::uint64_t{128} << 20;  // as its writers have it

void place_in_block(const placing& how, byte_view key, std::span<std::uint64_t> places) {
    constexpr std::array<std::uint32_t, 8> salts{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    const std::uint64_t hash = XXH64(key.data(), key.size(), 0);
    const std::uint64_t block = (hash >> 32) * (how.bits / block_bits) >> 32;
    for (std::size_t i = 0; i < salts.size(); ++i)
        places[i] = block * block_bits + 32 * i + (static_cast<std::uint32_t>(hash) * salts[i] >> 27);
}

// Each block has a rate of its own, the product over its words.
double rate_of_blocks(const placed_bits& bits) {
    double sum = 0;
    for (std::size_t block = 0; block < bits.bytes().size(); block += 32) {
        double all = 1;
        for (std::size_t word = block; word < block + 32; word += 4)
            all *= std::popcount(load_little<std::uint32_t>(bits.bytes().data() + word)) / 32.0;
        sum += all;
    }
    return sum / (static_cast<double>(bits.how().bits) / block_bits);
}

// The header says how many bytes there are, and three times that the only choice was taken: blocks, XXH64,
// not compressed. Each is a structure (0x1c) with one empty structure in it.
constexpr std::array choices{std::byte{0x1c}, std::byte{0x1c}, std::byte{0}, std::byte{0},    std::byte{0x1c},
                             std::byte{0x1c}, std::byte{0},    std::byte{0}, std::byte{0x1c}, std::byte{0x1c},
                             std::byte{0},    std::byte{0},    std::byte{0}};

struct parquet_head {
    std::size_t size = 0;     // of the head
    std::uint64_t bytes = 0;  // of the blocks
};

std::optional<parquet_head> head_of(byte_view bytes) {
    if (bytes.empty() || bytes[0] != std::byte{0x15}) return std::nullopt;  // field 1, i32
    std::uint64_t zigzag = 0;
    std::size_t at = 1;
    for (unsigned shift = 0;; shift += 7, ++at) {
        if (at >= bytes.size() || shift > 28) return std::nullopt;
        zigzag |= (std::to_integer<std::uint64_t>(bytes[at]) & 0x7f) << shift;
        if ((bytes[at] & std::byte{0x80}) == std::byte{0}) break;
    }
    ++at;
    if (bytes.size() - at < choices.size() || !std::ranges::equal(bytes.subspan(at, choices.size()), choices))
        return std::nullopt;
    return parquet_head{at + choices.size(), zigzag / 2};
}

std::vector<std::byte> head_for(std::uint64_t size) {
    std::vector<std::byte> head{std::byte{0x15}};
    std::uint64_t zigzag = 2 * size;
    for (; zigzag >= 0x80; zigzag >>= 7) head.push_back(static_cast<std::byte>(zigzag | 0x80));
    head.push_back(static_cast<std::byte>(zigzag));
    append(head, choices);
    return head;
}

any_filter parquet_filter(std::vector<std::byte> head, placed_bits bits) {
    return owned<array_filter>(array_filter::form{.dialect = dialect::parquet,
                                                  .hash = "XXH64",
                                                  .rate = rate_of_blocks,
                                                  .bits_of_block = block_bits},
                               std::move(head), std::move(bits));
}

placing blocks_of(std::uint64_t bytes) { return {.bits = 8 * bytes, .hashes = 8, .place = place_in_block}; }

std::optional<std::uint64_t> whole_parquet(byte_view bytes) {
    const auto head = head_of(bytes);
    if (!head || head->bytes == 0 || head->bytes % 32 != 0) return std::nullopt;
    return head->size + head->bytes;
}

bool is_parquet(byte_view bytes) { return whole_parquet(bytes) == bytes.size(); }

any_filter read_parquet(byte_view bytes, const dialect_options&) {
    const auto head = head_of(bytes);
    if (!head)
        return error::damaged("not the header of a split-block filter with XXH64 and no compression", 0);
    if (head->bytes == 0 || head->bytes % 32 != 0)
        return error::damaged("a split-block filter has whole blocks of 32 bytes", 1);
    if (bytes.size() - head->size != head->bytes)
        return error::damaged("blocks of " + std::to_string(head->bytes) + " bytes where " +
                                  std::to_string(bytes.size() - head->size) + " are left",
                              head->size);
    const auto all = bytes.first(head->size);
    return parquet_filter({all.begin(), all.end()},
                          placed_bits(blocks_of(head->bytes), bytes.subspan(head->size)));
}

// Writers take a power of two of bits.
result<placing> parquet_size(const wanted& w) {
    const double bits = -8.0 * static_cast<double>(w.items) / std::log1p(-std::pow(w.rate, 1.0 / 8));
    if (bits / 8 > static_cast<double>(most_parquet_bytes))
        return error::too_large("a filter of Parquet has at most 128 MiB");
    return blocks_of(std::max<std::uint64_t>(32, std::bit_ceil(static_cast<std::uint64_t>(bits)) / 8));
}

any_filter make_parquet(const wanted&, const placing& how) {
    return parquet_filter(head_for(how.bits / 8), placed_bits(how));
}

}  // namespace

std::optional<std::uint64_t> size_of_parquet(byte_view bytes) {
    const auto head = head_of(bytes);
    if (!head || head->bytes > bytes.size() - head->size) return std::nullopt;
    return head->size + head->bytes;
}

const grammar parquet{.fits = is_parquet,
                      .read = read_parquet,
                      .size = parquet_size,
                      .make = make_parquet,
                      .whole = whole_parquet};

}  // namespace posy::foreign
