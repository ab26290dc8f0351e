#include "posy/window_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/reader.hpp"
#include "base/saturate.hpp"
#include "bits/array_memory.hpp"
#include "codec/nested.hpp"
#include "layout/all.hpp"
#include "posy/algebra.hpp"

namespace posy {
namespace {

result<void> check_generations(std::uint64_t slot, std::uint64_t generations) {
    if (generations == 0 || generations > window_filter::max_generations)
        return error::invalid(std::to_string(generations) + " generations; 1 to 254 are possible");
    if (slot == 0 || slot > ~std::uint64_t{0} / (generations + 1))
        return error::invalid("a window must be longer than nothing and shorter than all time");
    return {};
}

result<void> check_promise(const promise& planned) {
    if (!(planned.rate > 0 && planned.rate < 1)) return error::invalid("the rate must lie between 0 and 1");
    if (planned.items == 0) return error::invalid("a window must be planned for at least one key");
    return {};
}

// The keys of one slot, if they come evenly.
std::uint64_t share(std::uint64_t items, unsigned generations) {
    return items / generations + (items % generations != 0);
}

// A key that an array seems to have already is not inserted, so the insertions stand for slightly more keys:
// ∫ f(x) dx more, by Simpson's rule; the rate is smooth.
double passed_over(const plan& one) {
    const auto n = static_cast<double>(one.items);
    constexpr int steps = 16;
    double sum = 0;
    layouts::with_layout(one.geometry(), [&]<class Layout>(const Layout&) {
        for (int i = 1; i <= steps; ++i) {
            const double weight = i == steps ? 1 : i % 2 == 1 ? 4 : 2;
            sum += weight *
                   Layout::expected_rate(std::ceil(n * i / steps), static_cast<double>(one.bits), one.hashes);
        }
    });
    return n * sum / (3 * steps);
}

}  // namespace

result<window_filter> window_filter::make(const posy::geometry& g, const promise& planned,
                                          std::uint64_t window, unsigned generations) {
    const std::uint64_t slot = generations == 0 ? 0 : window / generations + (window % generations != 0);
    if (auto valid = check_generations(slot, generations); !valid) return valid.error();
    if (auto valid = check_promise(planned); !valid) return valid.error();
    window_filter made(g, planned, slot, generations);
    auto first = bloom_filter::make(g);
    if (!first) return first.error();
    made.spare_.push_back(std::move(*first));
    return made;
}

result<plan> window_filter::plan_generation(const promise& planned, unsigned generations, layout_id layout) {
    if (auto valid = check_generations(1, generations); !valid) return valid.error();
    if (auto valid = check_promise(planned); !valid) return valid.error();
    // g + 1 full arrays, 1 − (1 − f)^(g + 1), are the worst there can be: docs/growing.md.
    wishes wanted{.items = share(planned.items, generations),
                  .rate = -std::expm1(std::log1p(-planned.rate) / (generations + 1)),
                  .layout = layout};
    const auto first = choose(wanted);
    if (!first) return first.error();
    wanted.items += static_cast<std::uint64_t>(std::round(passed_over(*first)));
    const auto roomier = choose(wanted);
    return roomier ? predict(first->items, roomier->geometry()) : roomier;
}

result<window_filter> window_filter::with_rate(std::uint64_t items, double rate, std::uint64_t window,
                                               unsigned generations, layout_id layout, hasher hash) {
    const promise planned{items, rate};
    const auto one = plan_generation(planned, generations, layout);
    if (!one) return one.error();
    return make(one->geometry(hash.family(), hash.seed()), planned, window, generations);
}

std::uint64_t window_filter::quota() const { return share(planned_.items, generations_); }
std::uint64_t window_filter::most_items() const { return saturating_sum(planned_.items, quota()); }

// Arrays that will never be queried again are emptied, and some are kept for reuse. The oldest come first, so
// the loop ends at the first that is still in use.
void window_filter::advance(std::uint64_t time) {
    if (time <= latest_) return;
    latest_ = time;
    std::size_t over = 0;
    while (over < arrays_.size() && !asked(arrays_[over], latest_)) ++over;
    for (std::size_t i = 0; i < over && spare_.size() <= generations_; ++i) {
        arrays_[i].filter.clear();
        spare_.push_back(std::move(arrays_[i].filter));
    }
    arrays_.erase(arrays_.begin(), arrays_.begin() + static_cast<std::ptrdiff_t>(over));
}

// The position after the arrays of this slot and of all earlier slots.
std::size_t window_filter::behind(std::uint64_t slot) const {
    std::size_t place = arrays_.size();
    while (place > 0 && arrays_[place - 1].slot > slot) --place;
    return place;
}

// A new array for this slot, and its place. If there is no memory for one, the newest array is used: its keys
// are remembered longer than promised, which is better than forgetting one.
std::size_t window_filter::begin_array(std::uint64_t slot) {
    if (spare_.empty()) {
        auto made = bloom_filter::make(geometry_);
        if (!made) {
            arrays_.back().slot = std::max(arrays_.back().slot, slot);
            return arrays_.size() - 1;
        }
        spare_.push_back(std::move(*made));
    }
    const std::size_t place = behind(slot);
    arrays_.insert(arrays_.begin() + static_cast<std::ptrdiff_t>(place),
                   generation{std::move(spare_.back()), slot, 0});
    spare_.pop_back();
    return place;
}

bool window_filter::insert(std::span<const digest> digests, std::uint64_t time) {
    if (time < latest_ && latest_ - time > remembered_at_least()) return false;
    advance(time);
    const std::uint64_t slot = time / slot_;
    std::size_t behind_it = behind(slot);
    for (const digest d : digests) {
        const bool begun = behind_it > 0 && arrays_[behind_it - 1].slot == slot;
        if (!begun || !arrays_[behind_it - 1].filter.may_contain(d)) {
            if (!begun || *arrays_[behind_it - 1].filter.items() >= quota())
                behind_it = begin_array(slot) + 1;
            arrays_[behind_it - 1].filter.insert(d);
        }
        arrays_[behind_it - 1].last = std::max(arrays_[behind_it - 1].last, time);
    }
    return true;
}

// Calls use(array) for every array that a query at that time reads, the newest first.
template <class Use>
void window_filter::each_asked(std::uint64_t time, Use use) const {
    const std::uint64_t now = std::max(time, latest_);
    for (std::size_t i = arrays_.size(); i-- > 0;)
        if (asked(arrays_[i], now)) use(arrays_[i]);
}

bool window_filter::may_contain(digest d, std::uint64_t time) const {
    const std::uint64_t now = std::max(time, latest_);
    return std::any_of(arrays_.rbegin(), arrays_.rend(),
                       [&](const generation& one) { return asked(one, now) && one.filter.may_contain(d); });
}

std::size_t window_filter::may_contain(std::span<const digest> digests, std::uint64_t time,
                                       std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    // Block by block, so that the answers of one array are still at hand for the next.
    constexpr std::size_t block = 256;
    std::array<bool, block> here;
    std::ranges::fill(answers, false);
    for (std::size_t from = 0; from < digests.size(); from += block) {
        const auto some = digests.subspan(from, std::min(block, digests.size() - from));
        each_asked(time, [&](const generation& one) {
            one.filter.may_contain(some, std::span(here).first(some.size()));
            for (std::size_t i = 0; i < some.size(); ++i) answers[from + i] = answers[from + i] || here[i];
        });
    }
    return static_cast<std::size_t>(std::ranges::count(answers, true));
}

double window_filter::false_positive_rate(std::uint64_t time) const {
    double right = 1;
    each_asked(time, [&](const generation& one) { right *= 1 - one.filter.false_positive_rate(); });
    return 1 - right;
}

std::uint64_t window_filter::items(std::uint64_t time) const {
    std::uint64_t sum = 0;
    each_asked(time, [&](const generation& one) { sum = saturating_sum(sum, *one.filter.items()); });
    return sum;
}

std::uint64_t window_filter::arrays(std::uint64_t time) const {
    std::uint64_t sum = 0;
    each_asked(time, [&](const generation&) { ++sum; });
    return sum;
}

std::uint64_t window_filter::memory_bytes() const {
    return (arrays_.size() + spare_.size()) * bit_array::word_count(geometry_.bits) * 8;
}

result<void> unite(window_filter& into, const window_filter& from) {
    if (into.geometry() != from.geometry()) return mismatch(into.geometry(), from.geometry());
    const auto shape = [](const window_filter& w) {
        return std::to_string(w.generations()) + " generations of " + std::to_string(w.slot()) + " for " +
               std::to_string(w.planned().items) + " keys at a rate of " + std::to_string(w.planned().rate);
    };
    if (into.slot_ != from.slot_ || into.generations_ != from.generations_ || into.planned_ != from.planned_)
        return error::mismatch("the windows differ: " + shape(into) + ", and " + shape(from) +
                               "; only equals unite");
    const std::uint64_t now = std::max(into.latest_, from.latest_);
    std::vector<window_filter::generation> others;
    for (const auto& one : from.arrays_) {
        if (!from.asked(one, now)) continue;
        auto filter = one.filter.clone();
        if (!filter) return filter.error();
        others.push_back({std::move(*filter), one.slot, one.last});
    }
    into.advance(now);
    // Arrays of one slot are combined where their keys fit into one; the emptiest stays in use.
    for (auto& other : others) {
        const std::size_t place = into.behind(other.slot);
        const bool begun = place > 0 && into.arrays_[place - 1].slot == other.slot;
        const std::uint64_t more = *other.filter.items();
        if (begun && saturating_sum(*into.arrays_[place - 1].filter.items(), more) <= into.quota()) {
            (void)unite(into.arrays_[place - 1].filter, other.filter);
            into.arrays_[place - 1].last = std::max(into.arrays_[place - 1].last, other.last);
            continue;
        }
        const bool before = begun && *into.arrays_[place - 1].filter.items() < more;
        into.arrays_.insert(into.arrays_.begin() + static_cast<std::ptrdiff_t>(place - before),
                            std::move(other));
    }
    return {};
}

void window_filter::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(geometry_.layout));
    out.push_back(static_cast<std::byte>(geometry_.hashes));
    out.push_back(static_cast<std::byte>(generations_));
    base::put_little(out, std::bit_cast<std::uint64_t>(planned_.rate));
    for (const std::uint64_t number : {geometry_.bits, slot_, planned_.items, latest_, arrays(latest_)})
        base::put_varint(out, number);
    for (const generation& one : arrays_) {
        if (!asked(one, latest_)) continue;
        base::put_varint(out, latest_ - one.last);
        base::put_varint(out, *one.filter.items());
        codec::append_bits(one.filter.bits(), out);
    }
}

result<window_filter> window_filter::parse(hasher hash, byte_view payload, const read_limits& limits) {
    const std::uint64_t max_bytes = limits.most(payload.size());
    base::reader in(payload);
    const auto require = [&](const result<void>& valid) {
        if (!in.wrong() && !valid) in.fail_as(valid.error());
    };
    posy::geometry g{.hash = hash.family(), .seed = hash.seed()};
    g.layout = static_cast<layout_id>(in.byte());
    g.hashes = in.byte();
    const unsigned generations = in.byte();
    promise planned{.rate = std::bit_cast<double>(in.number<std::uint64_t>())};
    g.bits = in.varint(max_bits);
    require(check(g));
    const std::uint64_t slot = in.varint();
    require(check_generations(slot, generations));
    planned.items = in.varint();
    require(check_promise(planned));
    const std::uint64_t latest = in.varint();
    // An array takes three bytes at least; in memory, its bits and its description.
    const std::uint64_t count = in.varint(in.left() / 3);
    const std::uint64_t size = bits::array_memory(g.bits) + sizeof(generation);
    if (!in.wrong() && std::max<std::uint64_t>(count, 1) > max_bytes / size)
        in.fail_above_limit(std::to_string(count) + " arrays", size, max_bytes);
    if (in.wrong()) return *in.wrong();
    window_filter parsed(g, planned, slot, generations);
    parsed.latest_ = latest;
    parsed.arrays_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t age = in.varint(std::min(parsed.remembered_at_least(), latest));
        const std::uint64_t number = (latest - age) / slot;
        if (!parsed.arrays_.empty() && parsed.arrays_.back().slot > number) in.fail("slots out of order");
        const std::uint64_t items = in.varint(bloom_filter::max_items);
        auto bits = codec::take_bits(in, g.bits, max_bytes);
        if (!bits) return bits.error();
        parsed.arrays_.push_back({bloom_filter::from_bits(g, std::move(*bits), items), number, latest - age});
    }
    if (const auto& wrong = in.finish()) return *wrong;
    if (count == 0) {
        auto first = bloom_filter::make(g);
        if (!first) return first.error();
        parsed.spare_.push_back(std::move(*first));
    }
    return parsed;
}

}  // namespace posy
