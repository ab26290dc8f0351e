// The preview of XXH3 (xxHash 0.7.2) that RocksDB keeps for its filters. The final function has other steps
// for short keys and other ends; only its table of random bytes, its primes and the two ways to mix are the
// same. A key of up to 16 bytes is a few words; up to 240 bytes, a sum of products of 16 bytes each; beyond
// that, eight sums run over stripes of 64 bytes, and are mixed after every sixteenth.
#include <array>

#include "foreign_hashes.hpp"
#include "posy/base/wide.hpp"

namespace posy::foreign {
namespace {

constexpr std::uint64_t p1 = 0x9e3779b185ebca87, p2 = 0xc2b2ae3d27d4eb4f, p3 = 0x165667b19e3779f9,
                        p4 = 0x85ebca77c2b2ae63, p5 = 0x27d4eb2f165667c5;
constexpr std::uint64_t short_p1 = 0x9e3779b1, short_p2 = 0x85ebca77, short_p3 = 0xc2b2ae3d;

// The random bytes, as little-endian words.
constexpr std::array<std::uint64_t, 24> random_words{
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb,
    0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c, 0xa32e531b8b65d088,
    0x4ef90da297486471, 0xd8acdea946ef1938, 0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a,
    0x647378d9c97e9fc8, 0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
    0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};

// Eight of them from any byte on.
constexpr std::uint64_t random_from(std::size_t byte) {
    const std::uint64_t low = random_words[byte / 8] >> 8 * (byte % 8);
    return byte % 8 == 0 ? low : low | random_words[byte / 8 + 1] << (64 - 8 * (byte % 8));
}

std::uint64_t word_at(byte_view key, std::size_t at) { return load_little<std::uint64_t>(key.data() + at); }

std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    const base::u128 product = base::u128{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t spread_out(std::uint64_t h) {
    h = (h ^ h >> 37) * p3;
    return h ^ h >> 32;
}

std::uint64_t of_16_bytes(byte_view key, std::size_t at, std::size_t secret) {
    return folded(word_at(key, at) ^ random_from(secret), word_at(key, at + 8) ^ random_from(secret + 8));
}

std::uint64_t up_to_16_bytes(byte_view key) {
    const std::size_t size = key.size();
    if (size == 0) return folded(random_from(0), p2);  // RocksDB's own: the preview had 0 here
    if (size < 4) {
        const auto byte = [&](std::size_t at) { return std::to_integer<std::uint64_t>(key[at]); };
        const std::uint64_t all = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16 | size << 24;
        return spread_out((all ^ (random_from(0) & 0xffffffff)) * p1);
    }
    if (size <= 8) {
        const std::uint64_t both = load_little<std::uint32_t>(key.data()) |
                                   std::uint64_t{load_little<std::uint32_t>(key.data() + size - 4)} << 32;
        const std::uint64_t keyed = both ^ random_from(0);
        const std::uint64_t mixed = size + (keyed ^ keyed >> 51) * short_p1;
        return spread_out((mixed ^ mixed >> 47) * p2);
    }
    const std::uint64_t low = word_at(key, 0) ^ random_from(0),
                        high = word_at(key, size - 8) ^ random_from(8);
    return spread_out(size + low + high + folded(low, high));
}

// From both ends towards the middle.
std::uint64_t up_to_128_bytes(byte_view key) {
    std::uint64_t sum = key.size() * p1;
    for (std::size_t pair = 0; pair <= (key.size() - 1) / 32; ++pair)
        sum += of_16_bytes(key, 16 * pair, 32 * pair) +
               of_16_bytes(key, key.size() - 16 * (pair + 1), 32 * pair + 16);
    return spread_out(sum);
}

std::uint64_t up_to_240_bytes(byte_view key) {
    std::uint64_t sum = key.size() * p1;
    for (std::size_t i = 0; i < 8; ++i) sum += of_16_bytes(key, 16 * i, 16 * i);
    sum = spread_out(sum);
    for (std::size_t i = 8; i < key.size() / 16; ++i) sum += of_16_bytes(key, 16 * i, 16 * (i - 8) + 3);
    return spread_out(sum + of_16_bytes(key, key.size() - 16, 119));
}

class eight_sums {
  public:
    // 64 bytes of the key.
    void add(byte_view stripe, std::size_t secret) {
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const std::uint64_t word = word_at(stripe, 8 * i), keyed = word ^ random_from(secret + 8 * i);
            sums_[i] += word + (keyed & 0xffffffff) * (keyed >> 32);
        }
    }
    void mix() {
        for (std::size_t i = 0; i < sums_.size(); ++i)
            sums_[i] = (sums_[i] ^ sums_[i] >> 47 ^ random_from(128 + 8 * i)) * short_p1;
    }
    std::uint64_t together(std::size_t size) const {
        std::uint64_t sum = size * p1;
        for (std::size_t i = 0; i < sums_.size(); i += 2)
            sum += folded(sums_[i] ^ random_from(11 + 8 * i), sums_[i + 1] ^ random_from(19 + 8 * i));
        return spread_out(sum);
    }

  private:
    std::array<std::uint64_t, 8> sums_{short_p3, p1, p2, p3, p4, short_p2, p5, short_p1};
};

std::uint64_t of_any_size(byte_view key) {
    constexpr std::size_t stripe = 64, stripes_between_mixes = 16;
    eight_sums sums;
    for (std::size_t i = 0; i < key.size() / stripe; ++i) {
        const std::size_t of_these = i % stripes_between_mixes;
        sums.add(key.subspan(stripe * i, stripe), 8 * of_these);
        if (of_these == stripes_between_mixes - 1) sums.mix();
    }
    if (key.size() % stripe != 0) sums.add(key.last(stripe), 121);
    return sums.together(key.size());
}

}  // namespace

std::uint64_t xxh3_preview(byte_view key) {
    if (key.size() <= 16) return up_to_16_bytes(key);
    if (key.size() <= 128) return up_to_128_bytes(key);
    return key.size() <= 240 ? up_to_240_bytes(key) : of_any_size(key);
}

}  // namespace posy::foreign
