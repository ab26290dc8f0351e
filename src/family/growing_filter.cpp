#include "posy/growing_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/reader.hpp"
#include "base/saturate.hpp"
#include "base/varint.hpp"
#include "bits/array_memory.hpp"
#include "codec/expected_size.hpp"
#include "codec/nested.hpp"
#include "family/growing_plan.hpp"
#include "filter/count_distribution.hpp"
#include "layout/all.hpp"
#include "posy/algebra.hpp"
#include "posy/standing.hpp"

namespace posy {
namespace {

using growing::add_load, growing::capacity, growing::choose_folds, growing::expected_rate, growing::growth,
    growing::load, growing::smallest_array, growing::together;

// Sizes are multiples of this many units.
constexpr std::uint64_t least_units = 60;
// Keys are inserted in blocks of this size.
constexpr std::size_t block = 256;

// The largest size within `bits` that has many divisors, as a multiple of `unit`; at least
// least_units of them, and a multiple of that.
std::uint64_t divisible_size(std::uint64_t bits, std::uint64_t unit) {
    for (const std::uint64_t rich : {55'440u, 27'720u, 2'520u, 420u})
        if (bits >= rich * unit) return bits / (rich * unit) * (rich * unit);
    return std::max<std::uint64_t>(1, bits / (least_units * unit)) * least_units * unit;
}

double rate_of(std::span<const bloom_filter> arrays) {
    double rate = 0;
    for (const bloom_filter& array : arrays) rate = together(rate, array.false_positive_rate());
    return rate;
}

result<void> check_rate(double rate) {
    if (rate > 0 && rate < 1) return {};
    return error::invalid("a rate of " + std::to_string(rate) + "; it must lie between 0 and 1");
}

result<geometry> first_array(const growing_filter::options& o) {
    if (auto valid = check_rate(o.rate); !valid) return valid.error();
    // The best number of hashes does not depend on the number of keys, once there are some, and is never
    // above that of the classic filter.
    wishes wanted{.items = 1'000'000, .rate = o.rate, .hashes = o.hashes, .layout = o.layout};
    if (!o.hashes) wanted.max_hashes = static_cast<unsigned>(std::ceil(-std::log2(o.rate))) + 1;
    const auto best = choose(wanted);
    if (!best) return best.error();
    geometry g = best->geometry(o.hash.family(), o.hash.seed());
    g.bits = divisible_size(std::min(o.first_bytes, max_bits / 8) * 8, smallest_array(g));
    return g;
}

}  // namespace

result<growing_filter> growing_filter::make(const options& o) {
    const auto g = first_array(o);
    if (!g) return g.error();
    auto first = bloom_filter::make(*g);
    if (!first) return first.error();
    std::vector<bloom_filter> arrays;
    arrays.push_back(std::move(*first));
    return growing_filter(o.rate, std::move(arrays));
}

result<growing_filter::forecast> growing_filter::expect(const options& o, std::uint64_t items) {
    auto g = first_array(o);
    if (!g) return g.error();
    forecast f;
    std::vector<load> arrays;
    std::vector<double> came;
    for (auto left = static_cast<double>(items); arrays.empty() || left > 0; g->bits *= growth) {
        if (arrays.size() == max_arrays || g->bits > max_bits)
            return error::too_large("more keys than a growing filter of such a first array can hold");
        const double here = std::min(left, static_cast<double>(capacity(*g, o.rate)));
        add_load(arrays, *g, here);
        came.push_back(here);
        f.growing_bits += g->bits;
        left -= here;
    }
    const auto divisors = choose_folds(arrays, o.rate);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        geometry small = arrays[i].geometry;
        small.bits /= divisors[i];
        const auto p = predict(static_cast<std::uint64_t>(std::max(1.0, std::round(arrays[i].items))), small);
        if (!p) return p.error();
        f.bits += p->bits;
        f.message_bits += p->message_bits;
        const auto ones = p->fill * static_cast<double>(p->bits);
        const std::uint64_t coded = codec::expect_bits(p->bits, ones, coding::smallest, 0).bytes;
        f.payload_bytes += base::varint_size(p->bits) +
                           base::varint_size(static_cast<std::uint64_t>(came[i])) +
                           base::varint_size(p->items) + 1 + base::varint_size(coded) + coded;
        f.false_positive_rate = together(f.false_positive_rate, p->false_positive_rate);
    }
    f.payload_bytes += 12 + base::varint_size(items);
    f.arrays = static_cast<unsigned>(arrays.size());
    f.hashes = g->hashes;
    return f;
}

std::uint64_t growing_filter::bits() const {
    std::uint64_t sum = 0;
    for (const bloom_filter& array : arrays_) sum += array.geometry().bits;
    return sum;
}

// How many different keys came while this array was the last one. A key that the arrays seemed to have
// already is not inserted, and it is not known whether it was a repeated key or a false positive. As long as
// false positives explain the number of such keys, all keys are counted as different; then the number does
// not depend on chance.
double growing_filter::different_keys(std::size_t array) const {
    const auto came = static_cast<double>(came_[array]);
    const auto fresh = static_cast<double>(*arrays_[array].items());
    double older = 1, chance = 0;
    for (std::size_t i = 0; i < array; ++i) older *= 1 - arrays_[i].false_positive_rate();
    constexpr int steps = 8;  // of Simpson's rule
    for (int i = 1; i <= steps; ++i) {
        const double x = std::ceil(fresh * i / steps), weight = i == steps ? 1 : i % 2 == 1 ? 4 : 2;
        chance += weight / (3 * steps) * expected_rate(arrays_[array].geometry(), x);
    }
    const double false_ones = fresh * (1 - older * (1 - chance));
    return came - fresh <= false_ones + 4 * std::sqrt(false_ones) ? came : fresh + false_ones;
}

// Begins another array when the last one is full, and sets after how many keys to check again. The check
// costs a pass over the older arrays, so it is not made before the last one could be full; where keys are
// repeated, it is made again only after another sixty-fourth of the array's capacity.
result<void> growing_filter::look_for_room() {
    geometry g = arrays_.back().geometry();
    const auto holds = static_cast<double>(capacity(g, rate_)), there = different_keys(arrays_.size() - 1);
    const auto again = [&](double keys) { sure_room_ = static_cast<std::uint64_t>(std::max(1.0, keys)); };
    again(std::max(holds - there, there < static_cast<double>(came_.back()) ? holds / 64 : 1));
    if (holds - there >= 1) return {};
    g.bits *= growth;
    auto next = arrays_.size() < max_arrays ? bloom_filter::make(g) : error::too_large("too many arrays");
    if (!next) {
        again(static_cast<double>(g.bits) / 64);
        return error::too_large("the filter cannot grow (" + next.error().message +
                                "); it holds all keys, but its rate of " +
                                "false positives will rise above the promised");
    }
    arrays_.push_back(std::move(*next));
    came_.push_back(0);
    again(static_cast<double>(capacity(g, rate_)));
    return {};
}

result<void> growing_filter::insert(std::span<const digest> digests) {
    if (shrunk_)
        return error::invalid("the filter has been shrunk to its promised rate; it takes no more keys");
    result<void> roomy;
    while (!digests.empty()) {
        if (sure_room_ == 0) {
            if (auto found = look_for_room(); !found) roomy = found;
        }
        const auto some = digests.first(std::min<std::uint64_t>({digests.size(), sure_room_, block}));
        insert_new(some);
        sure_room_ -= some.size();
        came_.back() = saturating_sum<std::uint64_t>(came_.back(), some.size());
        items_ = saturating_sum<std::uint64_t>(items_, some.size());
        digests = digests.subspan(some.size());
    }
    return roomy;
}

// Inserts into the last array the keys that no array has already. All are looked up together first, which
// also prefetches for the insertions.
void growing_filter::insert_new(std::span<const digest> digests) {
    std::array<bool, block> there;
    std::array<digest, block> fresh;
    std::ranges::copy(digests, fresh.begin());
    std::size_t left = digests.size();
    for (const bloom_filter& array : arrays_) {
        array.may_contain(std::span(fresh).first(left), std::span(there).first(left));
        std::size_t kept = 0;
        for (std::size_t i = 0; i < left; ++i)
            if (!there[i]) fresh[kept++] = fresh[i];
        left = kept;
    }
    bloom_filter& last = arrays_.back();
    for (const digest d : std::span(fresh).first(left))
        if (!last.may_contain(d)) last.insert(d);  // it may be twice in this block
}

bool growing_filter::may_contain(digest d) const {
    return std::ranges::any_of(arrays_, [&](const bloom_filter& array) { return array.may_contain(d); });
}

std::size_t growing_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    arrays_.back().may_contain(digests, answers);
    if (arrays_.size() > 1) {
        const auto older = std::span(arrays_).first(arrays_.size() - 1);
        for (std::size_t i = 0; i < digests.size(); ++i) {
            answers[i] = answers[i] || std::ranges::any_of(older, [&](const bloom_filter& array) {
                             return array.may_contain(digests[i]);
                         });
        }
    }
    return static_cast<std::size_t>(std::ranges::count(answers, true));
}

double growing_filter::false_positive_rate() const { return rate_of(arrays_); }

// The rate of the actual bits differs slightly from the expected one, and it is the actual bits that must
// keep the promise.
result<std::vector<bloom_filter>> growing_filter::folded() const {
    const error above = error::invalid("the rate of false positives is above the promised " +
                                       std::to_string(rate_) + " already");
    if (false_positive_rate() > rate_) return above;
    std::vector<load> loads;
    for (std::size_t i = 0; i < arrays_.size(); ++i)
        add_load(loads, arrays_[i].geometry(), different_keys(i));
    double aim = rate_;
    for (int attempt = 0; attempt < 30; ++attempt) {
        const auto divisors = choose_folds(loads, aim);
        std::vector<bloom_filter> small;
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            auto array = fold(arrays_[i], divisors[i]);
            if (!array) return array.error();
            small.push_back(std::move(*array));
        }
        const double rate = rate_of(small);
        if (rate <= rate_) return small;
        aim *= 0.99 * rate_ / rate;
    }
    return above;
}

result<bloom_filter> growing_filter::fold_down() const {
    if (arrays_.size() > 1) {
        return error::too_large(
            std::to_string(arrays_.size()) +
            " arrays hold the keys; shrink() makes them small, or start with a larger first one");
    }
    auto small = folded();
    if (!small) return small.error();
    bloom_filter& filter = small->front();
    filter.set_items(items_);
    // As many as it is later found to hold: repeated keys do not put it past its plan.
    const auto stands = standing_of(filter);
    const double held = std::ceil(stands ? stands->items : different_keys(0));
    filter.set_planned(promise{static_cast<std::uint64_t>(std::max(1.0, held)), rate_});
    return std::move(filter);
}

result<void> growing_filter::shrink() {
    if (shrunk_) return {};
    auto small = folded();
    if (!small) return small.error();
    arrays_ = std::move(*small);
    shrunk_ = true;
    return {};
}

result<void> unite(growing_filter& into, const growing_filter& from) {
    if (into.shrunk_ || from.shrunk_)
        return error::mismatch("a filter that has been shrunk cannot be united");
    const geometry a = into.arrays_.front().geometry(), b = from.arrays_.front().geometry();
    if (a != b) return mismatch(a, b);
    if (into.rate_ != from.rate_)
        return error::mismatch("the filters promise different rates; only equals unite");
    std::vector<bloom_filter> both;
    std::vector<std::uint64_t> came_both;
    for (std::size_t i = 0; i < std::max(into.arrays_.size(), from.arrays_.size()); ++i) {
        auto array = (i < into.arrays_.size() ? into : from).arrays_[i].clone();
        if (!array) return array.error();
        std::uint64_t came = (i < into.arrays_.size() ? into : from).came_[i];
        if (i < into.arrays_.size() && i < from.arrays_.size() && *from.arrays_[i].items() > 0) {
            (void)unite(*array, from.arrays_[i]);
            // Only the bits show how many different keys this is.
            const auto most = static_cast<double>(array->geometry().bits);
            came = static_cast<std::uint64_t>(std::min(estimate_items(*array).value, most));
            array->set_items(came);
        }
        came_both.push_back(came);
        both.push_back(std::move(*array));
    }
    if (const double rate = rate_of(both); rate > into.rate_) {
        return error::mismatch("together the filters would have a rate of " + std::to_string(rate) +
                               ", above the promised " + std::to_string(into.rate_) +
                               "; start with a larger first array");
    }
    into.arrays_ = std::move(both);
    into.came_ = std::move(came_both);
    into.items_ = saturating_sum(into.items_, from.items_);
    into.sure_room_ = 0;
    return {};
}

namespace {

// The rate of an array before it was folded: its size then follows from the keys that it holds.
double rate_when_full(geometry g, double items, double promised) {
    const std::uint64_t left = g.bits;
    g.bits = 6 * left;
    const double held = std::max(1.0, static_cast<double>(capacity(g, promised))) / 6;
    g.bits = left * static_cast<std::uint64_t>(std::clamp(std::round(items / held), 1.0, 1e4));
    return expected_rate(g, items);
}

}  // namespace

// New keys that were a false positive in an older array are in no array: of n keys, n·Π(1 − f) were inserted.
// The ends of the arrays' intervals are whole numbers, half a key inside of the exact ends.
estimate estimate_items(const growing_filter& filter, double level) {
    if (filter.arrays().size() == 1) return estimate_items(filter.arrays().front(), level);
    const double z = normal_deviations(level);
    estimate sum;
    double below = 0, above = 0, passed = 1;
    for (const bloom_filter& array : filter.arrays()) {
        const estimate e = estimate_items(array, level);
        const double n = e.value / passed, stopped = z * z * n * (1 - passed) / passed;
        const auto squared = [&](double x) { return (x + 0.5) * (x + 0.5) / (passed * passed); };
        sum.value += n;
        below += squared(e.value - e.low) + stopped;
        above += squared(e.high - e.value) + stopped;
        passed *= 1 - (filter.shrunk() ? rate_when_full(array.geometry(), e.value, filter.promised_rate())
                                       : array.false_positive_rate());
    }
    sum.low = std::min(sum.value, std::ceil(std::max(0.0, sum.value - std::sqrt(below))));
    sum.high = std::max(sum.value, std::floor(sum.value + std::sqrt(above)));
    return sum;
}

void growing_filter::append_to(std::vector<std::byte>& out) const {
    const geometry& first = arrays_.front().geometry();
    base::put_little(out, std::bit_cast<std::uint64_t>(rate_));
    out.push_back(static_cast<std::byte>(first.layout));
    out.push_back(static_cast<std::byte>(first.hashes));
    out.push_back(static_cast<std::byte>(shrunk_));
    out.push_back(static_cast<std::byte>(arrays_.size()));
    base::put_varint(out, items_);
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        for (const std::uint64_t number : {arrays_[i].geometry().bits, came_[i], *arrays_[i].items()})
            base::put_varint(out, number);
        codec::append_bits(arrays_[i].bits(), out);
    }
}

result<growing_filter> growing_filter::parse(hasher hash, byte_view payload, const read_limits& limits) {
    const std::uint64_t max_bytes = limits.most(payload.size());
    base::reader in(payload);
    const auto rate = std::bit_cast<double>(in.number<std::uint64_t>());
    if (!check_rate(rate)) in.fail("a rate that does not lie between 0 and 1");
    posy::geometry g{.hash = hash.family(), .seed = hash.seed()};
    g.layout = static_cast<layout_id>(in.byte());
    g.hashes = in.byte();
    const std::uint8_t shrunk = in.byte();
    if (shrunk > 1) in.fail("an unknown state");
    const unsigned count = in.byte();
    if (count == 0 || count > max_arrays) in.fail(std::to_string(count) + " arrays");
    const std::uint64_t items = in.varint();
    std::vector<bloom_filter> arrays;
    std::vector<std::uint64_t> came;
    std::uint64_t memory = 0;
    for (unsigned i = 0; i < count && !in.wrong(); ++i) {
        const std::uint64_t before = g.bits;
        g.bits = in.varint(max_bits);
        if (in.wrong()) break;
        if (auto valid = check(g); !valid) in.fail_as(valid.error());
        if (in.wrong()) break;
        const std::uint64_t unit = smallest_array(g);
        if (g.bits % (shrunk ? unit : least_units * unit) != 0 ||
            (i > 0 && !shrunk && g.bits != growth * before))
            in.fail("an array of " + std::to_string(g.bits) + " bits, which no growing filter has");
        if (in.wrong()) break;
        came.push_back(in.varint(bloom_filter::max_items));
        const std::uint64_t array_items = in.varint(came.back());
        auto bits = codec::take_bits(in, g.bits, max_bytes - memory);
        if (!bits) return bits.error();
        memory += bits::array_memory(g.bits);
        arrays.push_back(bloom_filter::from_bits(g, std::move(*bits), array_items));
    }
    if (const auto& wrong = in.finish()) return *wrong;
    growing_filter parsed(rate, std::move(arrays));
    parsed.came_ = std::move(came);
    parsed.shrunk_ = shrunk != 0;
    parsed.items_ = items;
    return parsed;
}

}  // namespace posy
