// The bits of many filters of one geometry, position by position: who says yes to a key is the AND of a few
// rows, instead of a probe into each filter. A simulation of a hundred proxies spends its time there.
//
// Filters of another geometry, of proxies that have outgrown their plan, are asked one by one.
// Cost: a row of a bit per filter for every position of the array; a query reads one row per hash, an update
// passes over the words of the filter. Thread safety: none.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "posy/bloom_filter.hpp"

namespace posy::lab {

class side_by_side {
  public:
    explicit side_by_side(std::uint32_t filters)
        : held_(filters), row_((filters + 63) / 64), odd_(row_), yes_(row_) {}

    // The filter of this number is now another.
    void replace(std::uint32_t number, std::shared_ptr<const bloom_filter> next) {
        if (rows_.empty()) {
            geometry_ = next->geometry();
            rows_.resize(geometry_.bits * row_);
        }
        const auto word = number / 64;
        const auto mask = std::uint64_t{1} << number % 64;
        const bool odd = next->geometry() != geometry_;
        odd ? odd_[word] |= mask : odd_[word] &= ~mask;
        const auto& before = held_[number];
        const bool was = before && before->geometry() == geometry_;
        for (std::size_t i = 0; i < (geometry_.bits + 63) / 64; ++i) {
            auto flips = (was ? before->bits().words()[i] : 0) ^ (odd ? 0 : next->bits().words()[i]);
            for (; flips != 0; flips &= flips - 1)
                rows_[(64 * i + static_cast<std::size_t>(std::countr_zero(flips))) * row_ + word] ^= mask;
        }
        held_[number] = std::move(next);
    }

    // One that says yes, searched for from `start` upwards within [first, first + count); `count` if none
    // does. Precondition: start < count.
    std::uint32_t find(digest d, std::uint32_t first, std::uint32_t count, std::uint32_t start,
                       std::uint32_t except) {
        ask(d);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto place = start + i < count ? start + i : start + i - count;
            const auto number = first + place;
            if (!(yes_[number / 64] >> number % 64 & 1) || number == except) continue;
            if (odd_[number / 64] >> number % 64 & 1 && !held_[number]->may_contain(d)) continue;
            return place;
        }
        return count;
    }

  private:
    // Those that say yes, or that have to be asked themselves.
    void ask(digest d) {
        if (d == asked_) return;
        asked_ = d;
        std::ranges::fill(yes_, ~std::uint64_t{0});
        for (const auto position : positions_of(geometry_, d))
            for (std::size_t w = 0; w < row_; ++w) yes_[w] &= rows_[position * row_ + w];
        for (std::size_t w = 0; w < row_; ++w) yes_[w] |= odd_[w];
    }

    std::vector<std::shared_ptr<const bloom_filter>> held_;
    geometry geometry_{};
    std::size_t row_;
    std::vector<std::uint64_t> rows_, odd_, yes_;
    digest asked_{};
};

}  // namespace posy::lab
