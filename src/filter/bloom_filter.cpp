#include "posy/bloom_filter.hpp"

#include <algorithm>
#include <cassert>

namespace posy {
namespace {

// How many keys ahead memory is asked for. Fewer does not fill the memory's queue, more evicts what was
// fetched.
constexpr std::size_t ahead = 24;

// Calls work(layout, i) for every digest, after the lines of digest i + ahead were asked for.
template <class Work>
void pipeline(const geometry& g, const bit_array& bits, std::span<const digest> digests, Work work) {
    layouts::with_layout(g, [&](auto layout) {
        const auto fetch = [&](std::size_t i) {
            layout.lines(digests[i], [&](std::uint64_t position) { bits.prefetch(position); });
        };
        for (std::size_t i = 0; i < std::min(ahead, digests.size()); ++i) fetch(i);
        for (std::size_t i = 0; i < digests.size(); ++i) {
            if (i + ahead < digests.size()) fetch(i + ahead);
            work(layout, i);
        }
    });
}

}  // namespace

result<bloom_filter> bloom_filter::make(const posy::geometry& g) {
    if (auto valid = check(g); !valid) return valid.error();
    auto bits = bit_array::make(g.bits);
    if (!bits) return bits.error();
    return bloom_filter(g, std::move(*bits), 0);
}

bloom_filter bloom_filter::from_bits(const posy::geometry& g, bit_array bits,
                                     std::optional<std::uint64_t> items) {
    assert(check(g) && bits.size() == g.bits);
    return {g, std::move(bits), items};
}

void bloom_filter::insert(std::span<const digest> digests) {
    pipeline(geometry_, bits_, digests, [&](const auto& layout, std::size_t i) {
        layout.positions(digests[i], [&](std::uint64_t position) { return bits_.set(position), true; });
    });
    count(digests.size());
}

void bloom_filter::insert_concurrently(std::span<const digest> digests) {
    pipeline(geometry_, bits_, digests, [&](const auto& layout, std::size_t i) {
        layout.positions(digests[i],
                         [&](std::uint64_t position) { return bits_.set_concurrently(position), true; });
    });
    if (items_) std::atomic_ref(*items_).fetch_add(digests.size(), std::memory_order_relaxed);
}

std::size_t bloom_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    std::size_t yes = 0;
    pipeline(geometry_, bits_, digests, [&](const auto& layout, std::size_t i) {
        answers[i] =
            layout.positions(digests[i], [&](std::uint64_t position) { return bits_.test(position); });
        yes += answers[i];
    });
    return yes;
}

double bloom_filter::false_positive_rate() const {
    return layouts::with_layout(geometry_,
                                [&](const auto& layout) { return layout.rate_now(bits_.words()); });
}

void bloom_filter::clear() {
    bits_.clear();
    items_ = 0;
}

result<bloom_filter> bloom_filter::clone() const {
    auto bits = bits_.clone();
    if (!bits) return bits.error();
    return bloom_filter(geometry_, std::move(*bits), items_);
}

}  // namespace posy
