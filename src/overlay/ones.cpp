#include "posy/overlay/ones.hpp"

#include <algorithm>

#include "base/mix.hpp"

namespace posy::overlay {

std::uint32_t one_set::check(position p) {
    return static_cast<std::uint32_t>(base::draw(0x6f6e6573, p) >> 32);
}

bool one_set::flip(position p) {
    checksum_ ^= check(p);
    bool now;
    if (words_.empty()) {
        now = sparse_[p] ^= 1;
    } else {
        words_[p / 64] ^= std::uint64_t{1} << p % 64;
        now = test(p);
    }
    ones_ += now ? 1 : ~std::uint64_t{0};
    if (words_.empty() && ones_ * 64 > bits_) spread_out();
    return now;
}

void one_set::spread_out() {
    words_.assign((bits_ + 63) / 64, 0);
    sparse_.each([&](position p, std::uint8_t) { words_[p / 64] |= std::uint64_t{1} << p % 64; });
    sparse_.clear();
}

void one_set::clear() {
    ones_ = 0, checksum_ = 0;
    sparse_.clear();
    words_.clear();
    words_.shrink_to_fit();
}

std::vector<position> one_set::sorted() const {
    std::vector<position> all;
    all.reserve(ones_);
    if (words_.empty()) {
        sparse_.each([&](position p, std::uint8_t) { all.push_back(p); });
        std::ranges::sort(all);
        return all;
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
        for (std::uint64_t word = words_[i]; word; word &= word - 1) {
            all.push_back(static_cast<position>(i * 64 + static_cast<unsigned>(std::countr_zero(word))));
        }
    }
    return all;
}

}  // namespace posy::overlay
