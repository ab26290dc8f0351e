// Digests for the tests of sealed sets, and payloads that a stranger might send.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"

namespace posy {

// As random as a hasher makes them, and the same in every run.
inline std::vector<digest> random_digests(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<digest> digests(count);
    for (digest& d : digests) d = {random(), random()};
    return digests;
}

inline std::string hex(byte_view bytes) {
    std::string text;
    for (const std::byte b : bytes) {
        for (const unsigned digit : {std::to_integer<unsigned>(b) >> 4, std::to_integer<unsigned>(b) & 15})
            text += "0123456789abcdef"[digit];
    }
    return text;
}

// Calls use(payload) with `count` damaged forms of a payload: bytes changed, mostly in front where the shape
// is, bits flipped, pieces cut out or doubled. Each in memory of its own, so that a sanitizer sees a read too
// far.
template <class Use>
void each_damaged(byte_view good, int count, const Use& use) {
    std::mt19937_64 random(8);
    const auto place = [&] {
        return random() % (random() % 4 != 0 ? std::min<std::size_t>(good.size(), 24) : good.size());
    };
    for (int i = 0; i < count; ++i) {
        std::vector<std::byte> bytes(good.begin(), good.end());
        for (auto changes = 1 + random() % 3; changes-- > 0;) {
            switch (random() % 3) {
                case 0:
                    bytes[place()] = static_cast<std::byte>(random());
                    break;
                case 1:
                    bytes[place()] ^= static_cast<std::byte>(1 << random() % 8);
                    break;
                default:
                    bytes[place()] = static_cast<std::byte>(random() % 4);
            }
        }
        const auto at = static_cast<std::ptrdiff_t>(place());
        if (random() % 4 == 0) bytes.erase(bytes.begin() + at);
        if (random() % 4 == 0)
            bytes.insert(bytes.begin() + at, bytes[static_cast<std::size_t>(at) % bytes.size()]);
        use(byte_view(bytes));
    }
}

}  // namespace posy
