// Damaged payloads of sealed sets.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "posy/bytes.hpp"

namespace posy {

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
