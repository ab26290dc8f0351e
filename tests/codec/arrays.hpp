// Arrays to code: independent bits of a given density from a small generator, the same on every machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/how.hpp"
#include "codec/codec.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace posy::codec::arrays {

class generator {  // splitmix64 (Steele, Lea & Flood 2014)
  public:
    explicit generator(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    static constexpr std::uint64_t min() { return 0; }
    static constexpr std::uint64_t max() { return std::numeric_limits<std::uint64_t>::max(); }

  private:
    std::uint64_t state_;
};

struct array {
    std::vector<std::uint64_t> words;
    std::uint64_t bits;
    std::uint64_t ones = 0;

    bit_view view() const { return {words, bits, ones}; }
};

inline array random_array(std::uint64_t bits, double density, std::uint64_t seed) {
    array made{std::vector<std::uint64_t>((bits + 63) / 64), bits};
    generator next(seed);
    const auto threshold = static_cast<std::uint64_t>(density * 0x1p32);
    for (std::uint64_t i = 0; i < bits; ++i) {
        if (next() >> 32 >= threshold) continue;
        made.words[i / 64] |= std::uint64_t{1} << i % 64;
        ++made.ones;
    }
    return made;
}

using base::instruction_sets;

inline std::uint64_t fingerprint(byte_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// Hands every prefix shorter than `coded` and `coded` with every bit flipped to `decode`, or every step-th of
// them.
inline void damage(const std::vector<std::byte>& coded, std::size_t step,
                   const std::function<void(byte_view)>& decode) {
    for (std::size_t length = 0; length < coded.size(); length += step) {
        const std::vector<std::byte> cut(coded.begin(), coded.begin() + static_cast<std::ptrdiff_t>(length));
        decode(cut);  // a copy of its own, so that the sanitizer sees the end
    }
    for (std::size_t bit = 0; bit < 8 * coded.size(); bit += step) {
        auto flipped = coded;
        flipped[bit / 8] ^= std::byte{1} << bit % 8;
        decode(flipped);
    }
}

using encode_function = std::function<void(bit_view, std::vector<std::byte>&, const base::how&)>;
using decode_function = std::function<result<void>(byte_view, bit_room, const base::how&)>;

inline void expect_round_trip(const array& made, const encode_function& encode, const decode_function& decode,
                              const base::how& run = {}) {
    std::vector<std::byte> coded{std::byte{7}};  // encode appends
    encode(made.view(), coded, run);
    std::vector<std::uint64_t> words(made.words.size());
    const auto done = decode(byte_view(coded).subspan(1), {words, made.bits}, run);
    ASSERT_TRUE(done) << done.error().text() << " bits " << made.bits << " ones " << made.ones;
    ASSERT_TRUE(words == made.words) << "bits " << made.bits << " ones " << made.ones;
}

// Damage gives an error or an array that is one: as many ones as its first bytes say, zeros past the end.
inline void expect_no_harm(const array& made, std::size_t step, const encode_function& encode,
                           const decode_function& decode, const base::how& run = {}) {
    std::vector<std::byte> coded;
    encode(made.view(), coded, run);
    auto longer = coded;
    longer.push_back(std::byte{0});
    std::vector<std::uint64_t> words(made.words.size());
    EXPECT_FALSE(decode(longer, {words, made.bits}, run)) << "a byte too many";
    damage(coded, step, [&](byte_view damaged) {
        std::ranges::fill(words, 0);
        if (!decode(damaged, {words, made.bits}, run)) return;
        EXPECT_EQ(damaged.size(), coded.size()) << "a prefix was taken for the whole";
        EXPECT_EQ(made.bits % 64 == 0 ? 0 : words.back() >> made.bits % 64, 0u);
        std::vector<std::byte> again;
        std::uint64_t ones = 0;
        for (const std::uint64_t word : words) ones += static_cast<std::uint64_t>(std::popcount(word));
        encode({words, made.bits, ones}, again, run);
        EXPECT_TRUE(std::ranges::equal(again, damaged)) << "one array, two codings";
    });
}

}  // namespace posy::codec::arrays
