#include "foreign_hashes.hpp"

#include <algorithm>
#include <bit>

namespace posy::foreign {
namespace {

// Where the hash is one of Java, a byte has a sign.
std::uint32_t with_sign(std::byte b) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int8_t>(b)));
}

std::uint32_t mixed(std::uint32_t word) { return std::rotl(word * 0xcc9e2d51, 15) * 0x1b873593; }

std::uint32_t spark_step(std::uint32_t h, std::uint32_t word) {
    return std::rotl(h ^ mixed(word), 13) * 5 + 0xe6546b64;
}

std::uint64_t finished(std::uint64_t h) {
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
    return h ^ h >> 33;
}

// Up to 8 bytes, the first the lowest.
std::uint64_t little(byte_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << 8 * i;
    return value;
}

// The same of bytes with signs, each of which changes all that is above it.
std::uint64_t little_with_signs(byte_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        value ^= static_cast<std::uint64_t>(static_cast<std::int8_t>(bytes[i])) << 8 * i;
    return value;
}

std::pair<std::uint64_t, std::uint64_t> murmur3_with_rest(byte_view key,
                                                          std::uint64_t (*word_of_rest)(byte_view)) {
    constexpr std::uint64_t c1 = 0x87c37b91114253d5, c2 = 0x4cf5ad432745937f;
    const auto mix1 = [](std::uint64_t k) { return std::rotl(k * c1, 31) * c2; };
    const auto mix2 = [](std::uint64_t k) { return std::rotl(k * c2, 33) * c1; };
    std::uint64_t h1 = 0, h2 = 0;
    std::size_t at = 0;
    for (; at + 16 <= key.size(); at += 16) {
        h1 = (std::rotl(h1 ^ mix1(load_little<std::uint64_t>(key.data() + at)), 27) + h2) * 5 + 0x52dce729;
        h2 =
            (std::rotl(h2 ^ mix2(load_little<std::uint64_t>(key.data() + at + 8)), 31) + h1) * 5 + 0x38495ab5;
    }
    const byte_view rest = key.subspan(at);
    h1 ^= mix1(word_of_rest(rest.first(std::min<std::size_t>(rest.size(), 8))));
    if (rest.size() > 8) h2 ^= mix2(word_of_rest(rest.subspan(8)));
    h1 ^= key.size(), h2 ^= key.size();
    h1 += h2, h2 += h1;
    h1 = finished(h1), h2 = finished(h2);
    h1 += h2;
    return {h1, h2 + h1};
}

}  // namespace

std::uint32_t murmur3_of_spark(byte_view key, std::uint32_t seed) {
    std::uint32_t h = seed;
    std::size_t at = 0;
    for (; at + 4 <= key.size(); at += 4) h = spark_step(h, load_little<std::uint32_t>(key.data() + at));
    for (; at < key.size(); ++at) h = spark_step(h, with_sign(key[at]));
    h ^= static_cast<std::uint32_t>(key.size());
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

std::pair<std::uint64_t, std::uint64_t> murmur3_128(byte_view key) { return murmur3_with_rest(key, little); }

std::pair<std::uint64_t, std::uint64_t> murmur3_of_cassandra(byte_view key) {
    return murmur3_with_rest(key, little_with_signs);
}

std::uint32_t murmur2_of_hadoop(byte_view key, std::uint32_t seed) {
    constexpr std::uint32_t m = 0x5bd1e995;
    auto h = seed ^ static_cast<std::uint32_t>(key.size());
    std::size_t at = 0;
    for (; at + 4 <= key.size(); at += 4) {
        auto k = load_little<std::uint32_t>(key.data() + at) * m;
        k = (k ^ k >> 24) * m;
        h = h * m ^ k;
    }
    if (const std::size_t left = key.size() - at; left != 0) {
        for (std::size_t i = 0; i < left; ++i)
            h ^= with_sign(key[key.size() - left + i]) << 8 * (left - 1 - i);
        h *= m;
    }
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

std::uint64_t murmur2_64(byte_view key, std::uint64_t seed) {
    constexpr std::uint64_t m = 0xc6a4a7935bd1e995;
    std::uint64_t h = seed ^ key.size() * m;
    std::size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) {
        auto k = load_little<std::uint64_t>(key.data() + at) * m;
        k = (k ^ k >> 47) * m;
        h = (h ^ k) * m;
    }
    if (at < key.size()) h = (h ^ little(key.subspan(at))) * m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

std::uint32_t lookup3(byte_view key, std::uint32_t seed) {
    std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(key.size()) + seed, b = a, c = a;
    const auto add = [&](byte_view from) {
        const auto word = [&](std::size_t at) {
            if (at >= from.size()) return std::uint32_t{0};
            return static_cast<std::uint32_t>(
                little(from.subspan(at, std::min<std::size_t>(4, from.size() - at))));
        };
        a += word(0), b += word(4), c += word(8);
    };
    for (; key.size() > 12; key = key.subspan(12)) {
        add(key.first(12));
        a = (a - c) ^ std::rotl(c, 4), c += b;
        b = (b - a) ^ std::rotl(a, 6), a += c;
        c = (c - b) ^ std::rotl(b, 8), b += a;
        a = (a - c) ^ std::rotl(c, 16), c += b;
        b = (b - a) ^ std::rotl(a, 19), a += c;
        c = (c - b) ^ std::rotl(b, 4), b += a;
    }
    if (key.empty()) return c;
    add(key);
    c = (c ^ b) - std::rotl(b, 14);
    a = (a ^ c) - std::rotl(c, 11);
    b = (b ^ a) - std::rotl(a, 25);
    c = (c ^ b) - std::rotl(b, 16);
    a = (a ^ c) - std::rotl(c, 4);
    b = (b ^ a) - std::rotl(a, 14);
    return (c ^ b) - std::rotl(b, 24);
}

std::uint64_t fnv1(byte_view key) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const std::byte each : key) h = h * 0x100000001b3 ^ std::to_integer<std::uint64_t>(each);
    return h;
}

std::uint32_t leveldb_hash(byte_view key) {
    constexpr std::uint32_t m = 0xc6a4a793;
    auto h = 0xbc9f1d34 ^ static_cast<std::uint32_t>(key.size()) * m;
    std::size_t at = 0;
    for (; at + 4 <= key.size(); at += 4) {
        h = (h + load_little<std::uint32_t>(key.data() + at)) * m;
        h ^= h >> 16;
    }
    if (at < key.size()) {
        h = (h + static_cast<std::uint32_t>(little(key.subspan(at)))) * m;
        h ^= h >> 24;
    }
    return h;
}

}  // namespace posy::foreign
