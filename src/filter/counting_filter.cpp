#include "posy/counting_filter.hpp"

#include <bit>
#include <cassert>

#include "key_positions.hpp"

namespace posy {
namespace {

template <class Use>
void for_each_one(const bit_array& bits, Use use) {
    const auto words = bits.words();
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
            use(i * 64 + static_cast<unsigned>(std::countr_zero(word)));
        }
    }
}

}  // namespace

result<counting_filter> counting_filter::make(const posy::geometry& g, unsigned counter_bits) {
    if (counter_bits != 4 && counter_bits != 8) {
        return error{"counters of " + std::to_string(counter_bits) + " bits; 4 and 8 are possible"};
    }
    auto projection = bloom_filter::make(g);
    if (!projection) return projection.error();
    auto counters = counter_array::make(g.bits, counter_bits);
    if (!counters) return counters.error();
    return counting_filter(std::move(*projection), std::move(*counters));
}

result<counting_filter> counting_filter::from_counters(const posy::geometry& g, counter_array counters,
                                                       std::uint64_t items) {
    assert(check(g) && counters.size() == g.bits);
    auto projection = bloom_filter::make(g);
    if (!projection) return projection.error();
    for (std::uint64_t i = 0; i < g.bits; ++i) {
        if (counters[i] != 0) projection->bits().set(i);
    }
    projection->set_items(items);
    return counting_filter(std::move(*projection), std::move(counters));
}

void counting_filter::flip(std::uint64_t position) {
    projection_.bits().flip(position);
    if (!flipped_) return;
    flipped_->flip(position);
    flipped_->test(position) ? ++flipped_count_ : --flipped_count_;
}

void counting_filter::insert(digest d) {
    // Hashes that meet in one counter count twice, as in the paper.
    for (const std::uint64_t position : key_positions(geometry(), d)) {
        if (counters_.increment(position) == 0) flip(position);
    }
    projection_.set_items(items() + 1);
}

void counting_filter::insert(std::span<const digest> digests) {
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        if (i + ahead < digests.size()) {
            layouts::with_layout(geometry(), [&](const auto& layout) {
                layout.positions(digests[i + ahead],
                                 [&](std::uint64_t p) { return counters_.prefetch(p), true; });
            });
        }
        insert(digests[i]);
    }
}

bool counting_filter::remove(digest d) {
    const key_positions positions(geometry(), d);
    for (const std::uint64_t& position : positions) {
        // A key that was inserted left at least as many increments here as it has hashes that meet here.
        unsigned meet = 1;
        for (const std::uint64_t* other = positions.begin(); other != &position; ++other)
            meet += *other == position;
        if (counters_[position] < meet) return false;
    }
    for (const std::uint64_t position : positions) {
        if (counters_.decrement(position) == 1) flip(position);
    }
    // Damage from removing absent keys must not wrap the count.
    if (items() > 0) projection_.set_items(items() - 1);
    return true;
}

result<void> counting_filter::mark() {
    if (flipped_) {
        flipped_->clear();
    } else {
        auto bits = bit_array::make(geometry().bits);
        if (!bits) return bits.error();
        flipped_ = std::move(*bits);
    }
    flipped_count_ = 0;
    return {};
}

std::vector<std::uint64_t> counting_filter::flipped() const {
    std::vector<std::uint64_t> positions;
    if (!flipped_) return positions;
    positions.reserve(flipped_count_);
    for_each_one(*flipped_, [&](std::uint64_t position) { positions.push_back(position); });
    return positions;
}

void counting_filter::clear() {
    if (flipped_) {
        // Every bit that is on goes off: relative to the mark that flips it once more.
        for_each_one(projection_.bits(), [&](std::uint64_t position) { flipped_->flip(position); });
        flipped_count_ = flipped_->ones();
    }
    projection_.clear();
    counters_.clear();
}

}  // namespace posy
