#include "posy/counting_filter.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "batches.hpp"
#include "bits/cell_words.hpp"
#include "counting_kernels.hpp"

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
        return error::invalid("counters of " + std::to_string(counter_bits) + " bits; 4 and 8 are possible");
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
    const auto cells = counters.cells().words();
    const auto set = projection->bits().words();
    const unsigned each = 64 / counters.width();  // counters in a word
    bits::each_word_above_0(cells, [&](std::size_t i, std::uint64_t word) {
        set[i * each / 64] |= bits::cells_above_0(word, counters.width()) << i * each % 64;
    });
    projection->set_items(items);
    return counting_filter(std::move(*projection), std::move(counters));
}

void counting_filter::insert_one(digest d) {
    kernels::counting_arrays arrays{counters_, projection_.bits(), flipped_ ? &*flipped_ : nullptr,
                                    flipped_count_};
    kernels::counting_kernel_for(geometry(), counters_.width()).insert(arrays, geometry(), &d, 1, false);
    projection_.count_insertions(1);
}

bool counting_filter::remove_one(digest d) {
    kernels::counting_arrays arrays{counters_, projection_.bits(), flipped_ ? &*flipped_ : nullptr,
                                    flipped_count_};
    bool removed = false;
    kernels::counting_kernel_for(geometry(), counters_.width())
        .remove(arrays, geometry(), &d, 1, false, &removed);
    return removed && count_removal();
}

template <class Keys>
void counting_filter::insert_keys(const Keys& keys) {
    const auto& kernel = kernels::counting_kernel_for(geometry(), counters_.width());
    kernels::counting_arrays arrays{counters_, projection_.bits(), flipped_ ? &*flipped_ : nullptr,
                                    flipped_count_};
    kernels::in_windows(
        hash(), keys, [&](auto... later) { kernel.fetch(arrays, geometry(), later...); },
        [&](const digest* now, std::size_t count, bool more, std::size_t) {
            kernel.insert(arrays, geometry(), now, count, more);
        });
    projection_.set_items(items() + std::min(keys.size(), bloom_filter::max_items - items()));
}

template <class Keys>
std::size_t counting_filter::remove_keys(const Keys& keys, std::span<bool> removed) {
    assert(keys.size() == removed.size());
    const auto& kernel = kernels::counting_kernel_for(geometry(), counters_.width());
    kernels::counting_arrays arrays{counters_, projection_.bits(), flipped_ ? &*flipped_ : nullptr,
                                    flipped_count_};
    std::size_t yes = 0;
    kernels::in_windows(
        hash(), keys, [&](auto... later) { kernel.fetch(arrays, geometry(), later...); },
        [&](const digest* now, std::size_t count, bool more, std::size_t first) {
            yes += kernel.remove(arrays, geometry(), now, count, more, removed.data() + first);
        });
    projection_.set_items(items() - std::min<std::uint64_t>(items(), yes));
    return yes;
}

template void counting_filter::insert_keys(const std::span<const digest>&);
template void counting_filter::insert_keys(const std::span<const std::uint64_t>&);
template void counting_filter::insert_keys(const std::span<const std::string_view>&);
template std::size_t counting_filter::remove_keys(const std::span<const digest>&, std::span<bool>);
template std::size_t counting_filter::remove_keys(const std::span<const std::uint64_t>&, std::span<bool>);
template std::size_t counting_filter::remove_keys(const std::span<const std::string_view>&, std::span<bool>);

void counting_filter::flip_projected(std::uint64_t position) {
    projection_.bits().flip(position);
    if (!flipped_) return;
    flipped_->flip(position);
    flipped_->test(position) ? ++flipped_count_ : --flipped_count_;
}

void counting_filter::raise(std::uint64_t position) {
    if (counters_.increment(position) == 0) flip_projected(position);
}

void counting_filter::lower(std::uint64_t position) {
    if (counters_[position] != 0 && counters_.decrement(position) == 1) flip_projected(position);
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
    one_line_ = false;
    return {};
}

bool counting_filter::contained_at_mark(digest d) const {
    return std::ranges::all_of(positions_of(geometry(), d), [this](std::uint64_t position) {
        return projection_.bits().test(position) != (flipped_ && flipped_->test(position));
    });
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
