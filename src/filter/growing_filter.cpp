#include "posy/growing_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/reader.hpp"
#include "codec/nested.hpp"
#include "count_distribution.hpp"
#include "posy/algebra.hpp"
#include "posy/saturate.hpp"

namespace posy {
namespace {

constexpr std::uint64_t growth = 4;
// An array is full when it could only just be folded by this.
constexpr std::uint64_t least_fold = 6;
// Sizes are multiples of so many units.
constexpr std::uint64_t least_units = 60;

// The unit of sizes, and the least an array can be folded down to: a line, or a byte (a slice).
std::uint64_t smallest_array(const geometry& g) {
    return std::max<std::uint64_t>(round_up_bits(1, g.hashes, g.layout),
                                   8 * (g.layout == layout_id::sliced ? g.hashes : 1));
}

// The largest size within `bits` that has many divisors, as a multiple of `unit`; at least
// least_units of them, and a multiple of that.
std::uint64_t divisible_size(std::uint64_t bits, std::uint64_t unit) {
    for (const std::uint64_t rich : {55'440u, 27'720u, 2'520u, 420u})
        if (bits >= rich * unit) return bits / (rich * unit) * (rich * unit);
    return std::max<std::uint64_t>(1, bits / (least_units * unit)) * least_units * unit;
}

std::vector<std::uint64_t> divisors_of(std::uint64_t n) {
    std::vector<std::uint64_t> low, high;
    for (std::uint64_t d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        low.push_back(d);
        if (d * d != n) high.push_back(n / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

double expected_rate(const geometry& g, double items, std::uint64_t divisor) {
    const std::uint64_t bits = g.bits / divisor;
    return layouts::with_layout(g, [&]<class Layout>(const Layout&) {
        return Layout::expected_rate(items, static_cast<double>(bits), g.hashes);
    });
}

// So many keys fit into an array before it is full.
double capacity(const geometry& g, double rate) {
    double low = 0, high = static_cast<double>(g.bits);
    for (int halving = 0; halving < 40; ++halving) {
        const double middle = (low + high) / 2;
        (expected_rate(g, middle, least_fold) <= rate ? low : high) = middle;
    }
    return low;
}

double together(double rate, double other) { return rate + other - rate * other; }

double rate_of(std::span<const bloom_filter> stages) {
    double rate = 0;
    for (const bloom_filter& stage : stages) rate = together(rate, stage.false_positive_rate());
    return rate;
}

// An array and how many keys are in it.
struct load {
    geometry shape;
    double items = 0;
};

// The divisors that are worth a thought, and the rates to expect: those at which so many keys have at most
// `rate` and not far less; and 1.
std::vector<std::pair<std::uint64_t, double>> useful_folds(const geometry& g, double items, double rate) {
    const auto divisors = divisors_of(g.bits / smallest_array(g));
    auto at = std::ranges::partition_point(
        divisors, [&](std::uint64_t divisor) { return expected_rate(g, items, divisor) <= rate; });
    std::vector<std::pair<std::uint64_t, double>> useful;
    for (double alone = rate; at != divisors.begin() && alone > 1e-3 * rate;) {
        alone = expected_rate(g, items, *--at);
        useful.emplace_back(*at, alone);
    }
    if (useful.empty() || useful.back().first != 1) useful.emplace_back(1, expected_rate(g, items, 1));
    return useful;
}

// By which divisors to fold the stages, so that they get as small as can be while the rate to expect of them
// together stays within `rate`. Stage by stage: of all that could be made of the stages so far, those are
// kept that no other one beats in rate and in bits.
std::vector<std::uint64_t> choose_folds(std::span<const load> stages, double rate) {
    struct choice {
        double rate = 0;
        std::uint64_t bits = 0;
        std::vector<std::uint64_t> divisors;
    };
    std::vector<choice> best(1);
    for (const auto& [g, items] : stages) {
        std::vector<choice> all;
        for (const auto& [divisor, alone] : useful_folds(g, items, rate)) {
            for (const choice& before : best) {
                choice next{together(before.rate, alone), before.bits + g.bits / divisor, before.divisors};
                next.divisors.push_back(divisor);
                if (next.rate <= rate || divisor == 1) all.push_back(std::move(next));
            }
        }
        std::ranges::sort(all, {}, [](const choice& c) { return std::pair(c.rate, c.bits); });
        best.clear();
        for (choice& next : all)
            if (best.empty() || next.bits < best.back().bits) best.push_back(std::move(next));
    }
    const auto fits = [&](const choice& c) { return c.rate <= rate; };
    const auto last = std::ranges::find_if_not(best, fits);
    return last == best.begin() ? best.front().divisors : std::prev(last)->divisors;
}

result<void> check_rate(double rate) {
    if (rate > 0 && rate < 1) return {};
    return error{"a rate of " + std::to_string(rate) + "; it must lie between 0 and 1"};
}

result<geometry> first_array(const growing_filter::options& o) {
    if (auto valid = check_rate(o.rate); !valid) return valid.error();
    // The best number of hashes does not depend on the number of keys, once there are some, and is never
    // above that of the classic filter.
    wishes wanted{.items = 1'000'000, .rate = o.rate, .hashes = o.hashes, .layout = o.layout};
    if (!o.hashes) wanted.max_hashes = static_cast<unsigned>(std::ceil(-std::log2(o.rate))) + 1;
    const auto shape = choose(wanted);
    if (!shape) return shape.error();
    geometry g = shape->geometry(o.hash.family(), o.hash.seed());
    g.bits = divisible_size(std::min(o.first_bytes, max_bits / 8) * 8, smallest_array(g));
    return g;
}

}  // namespace

result<growing_filter> growing_filter::make(const options& o) {
    const auto g = first_array(o);
    if (!g) return g.error();
    auto first = bloom_filter::make(*g);
    if (!first) return first.error();
    std::vector<bloom_filter> stages;
    stages.push_back(std::move(*first));
    return growing_filter(o.rate, std::move(stages));
}

result<growing_filter::forecast> growing_filter::expect(const options& o, std::uint64_t items) {
    auto g = first_array(o);
    if (!g) return g.error();
    forecast f;
    std::vector<load> stages;
    for (auto left = static_cast<double>(items); stages.empty() || left > 0; g->bits *= growth) {
        if (stages.size() == max_stages || g->bits > max_bits)
            return error{"more keys than a growing filter of such a first array can hold"};
        stages.push_back({*g, std::min(left, capacity(*g, o.rate))});
        f.growing_bits += g->bits;
        left -= stages.back().items;
    }
    const auto divisors = choose_folds(stages, o.rate);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        geometry small = stages[i].shape;
        small.bits /= divisors[i];
        const auto p = predict(static_cast<std::uint64_t>(std::max(1.0, std::round(stages[i].items))), small);
        if (!p) return p.error();
        f.bits += p->bits;
        f.message_bits += p->message_bits;
        f.false_positive_rate = together(f.false_positive_rate, p->false_positive_rate);
    }
    f.arrays = static_cast<unsigned>(stages.size());
    f.hashes = g->hashes;
    return f;
}

std::uint64_t growing_filter::bits() const {
    std::uint64_t sum = 0;
    for (const bloom_filter& stage : stages_) sum += stage.geometry().bits;
    return sum;
}

// Goes on in a further array when the last one is full. Its keys are counted by its bits, since many
// insertions may be of few keys. That costs a pass over the array, which is why it is not done before it
// could be full, nor again before a sixty-fourth of what it holds.
result<void> growing_filter::look_for_room() {
    const geometry& last = stages_.back().geometry();
    const double holds = capacity(last, rate_), there = estimate_items(stages_.back()).value;
    if (there < holds) {
        sure_room_ = static_cast<std::uint64_t>(std::max({1.0, holds - there, holds / 64}));
        return {};
    }
    sure_room_ = static_cast<std::uint64_t>(holds / 64) + 1;
    geometry g = last;
    g.bits *= growth;
    auto next = stages_.size() < max_stages ? bloom_filter::make(g) : error{"too many arrays"};
    if (!next) {
        return error{"the filter cannot grow (" + next.error().message +
                     "); it holds all keys, but its rate of " +
                     "false positives will rise above the promised"};
    }
    stages_.push_back(std::move(*next));
    sure_room_ = static_cast<std::uint64_t>(capacity(g, rate_)) + 1;
    return {};
}

result<void> growing_filter::insert(std::span<const digest> digests) {
    if (shrunk_) return error{"the filter has been shrunk to its promised rate; it takes no more keys"};
    result<void> roomy;
    while (!digests.empty()) {
        if (sure_room_ == 0) {
            if (auto found = look_for_room(); !found) roomy = found;
        }
        const auto some = digests.first(std::min<std::uint64_t>(digests.size(), sure_room_));
        insert_new(some);
        sure_room_ -= some.size();
        items_ = saturating_sum<std::uint64_t>(items_, some.size());
        digests = digests.subspan(some.size());
    }
    return roomy;
}

// Into the last array, unless an older one has the key.
void growing_filter::insert_new(std::span<const digest> digests) {
    if (stages_.size() == 1) return stages_.back().insert(digests);
    constexpr std::size_t block = 256;
    std::array<bool, block> there;
    std::array<digest, block> fresh;
    for (std::size_t from = 0; from < digests.size(); from += block) {
        const auto some = digests.subspan(from, std::min(block, digests.size() - from));
        std::ranges::copy(some, fresh.begin());
        std::size_t left = some.size();
        for (std::size_t s = 0; s + 1 < stages_.size(); ++s) {
            stages_[s].may_contain(std::span(fresh).first(left), std::span(there).first(left));
            std::size_t kept = 0;
            for (std::size_t i = 0; i < left; ++i)
                if (!there[i]) fresh[kept++] = fresh[i];
            left = kept;
        }
        stages_.back().insert(std::span(fresh).first(left));
    }
}

bool growing_filter::may_contain(digest d) const {
    return std::ranges::any_of(stages_, [&](const bloom_filter& stage) { return stage.may_contain(d); });
}

std::size_t growing_filter::may_contain(std::span<const digest> digests, std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    stages_.back().may_contain(digests, answers);
    if (stages_.size() > 1) {
        const auto older = std::span(stages_).first(stages_.size() - 1);
        for (std::size_t i = 0; i < digests.size(); ++i) {
            answers[i] = answers[i] || std::ranges::any_of(older, [&](const bloom_filter& stage) {
                             return stage.may_contain(digests[i]);
                         });
        }
    }
    return static_cast<std::size_t>(std::ranges::count(answers, true));
}

double growing_filter::false_positive_rate() const { return rate_of(stages_); }

// What is expected of a fold is not quite what its bits say; and what they say has to keep the promise.
result<std::vector<bloom_filter>> growing_filter::folded() const {
    const error above{"the rate of false positives is above the promised " + std::to_string(rate_) +
                      " already"};
    if (false_positive_rate() > rate_) return above;
    std::vector<load> loads;
    for (const bloom_filter& stage : stages_)
        loads.push_back({stage.geometry(), estimate_items(stage).value});
    double aim = rate_;
    for (int attempt = 0; attempt < 30; ++attempt) {
        const auto divisors = choose_folds(loads, aim);
        std::vector<bloom_filter> small;
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            auto stage = fold(stages_[i], divisors[i]);
            if (!stage) return stage.error();
            small.push_back(std::move(*stage));
        }
        const double rate = rate_of(small);
        if (rate <= rate_) return small;
        aim *= 0.99 * rate_ / rate;
    }
    return above;
}

result<bloom_filter> growing_filter::fold_down() const {
    if (stages_.size() > 1) {
        return error{std::to_string(stages_.size()) +
                     " arrays hold the keys; shrink() makes them small, or start with a larger first one"};
    }
    auto small = folded();
    if (!small) return small.error();
    return std::move(small->front());
}

result<void> growing_filter::shrink() {
    if (shrunk_) return {};
    auto small = folded();
    if (!small) return small.error();
    stages_ = std::move(*small);
    shrunk_ = true;
    return {};
}

result<void> unite(growing_filter& into, const growing_filter& from) {
    if (into.shrunk_ || from.shrunk_) return error{"a filter that has been shrunk cannot be united"};
    const geometry a = into.stages_.front().geometry(), b = from.stages_.front().geometry();
    if (a != b) return mismatch(a, b);
    if (into.rate_ != from.rate_) return error{"the filters promise different rates; only equals unite"};
    std::vector<bloom_filter> both;
    for (std::size_t i = 0; i < std::max(into.stages_.size(), from.stages_.size()); ++i) {
        auto stage = (i < into.stages_.size() ? into : from).stages_[i].clone();
        if (!stage) return stage.error();
        if (i < into.stages_.size() && i < from.stages_.size()) (void)unite(*stage, from.stages_[i]);
        both.push_back(std::move(*stage));
    }
    if (const double rate = rate_of(both); rate > into.rate_) {
        return error{"together the filters would have a rate of " + std::to_string(rate) +
                     ", above the promised " + std::to_string(into.rate_) +
                     "; start with a larger first array"};
    }
    into.stages_ = std::move(both);
    into.items_ = saturating_sum(into.items_, from.items_);
    into.sure_room_ = 0;
    return {};
}

namespace {

// The rate at which a full array was asked, of which only a fold is left: a sixth of its bits would have had
// the promised rate. That hardly depends on its size.
double rate_when_full(const geometry& g, double promised) {
    return layouts::with_layout(g, [&]<class Layout>(const Layout&) {
        const auto rate = [&](double bits) { return Layout::expected_rate(1e6, bits, g.hashes); };
        double low = 1, high = static_cast<double>(max_bits);
        for (int i = 0; i < 60; ++i) {
            const double middle = std::sqrt(low * high);
            (rate(middle) > promised ? low : high) = middle;
        }
        return rate(least_fold * high);
    });
}

}  // namespace

// Keys that an older array seemed to have, by a false positive, are in none: what got past them is n·Π(1 −
// f) of n. Ends of the arrays' intervals are whole numbers, half a key inside of where they would be.
estimate estimate_items(const growing_filter& filter, double level) {
    if (filter.stages().size() == 1) return estimate_items(filter.stages().front(), level);
    const double z = normal_deviations(level);
    estimate sum;
    double below = 0, above = 0, passed = 1;
    for (const bloom_filter& stage : filter.stages()) {
        const estimate e = estimate_items(stage, level);
        const double n = e.value / passed, stopped = z * z * n * (1 - passed) / passed;
        const auto squared = [&](double x) { return (x + 0.5) * (x + 0.5) / (passed * passed); };
        sum.value += n;
        below += squared(e.value - e.low) + stopped;
        above += squared(e.high - e.value) + stopped;
        passed *= 1 - (filter.shrunk() ? rate_when_full(stage.geometry(), filter.promised_rate())
                                       : stage.false_positive_rate());
    }
    sum.low = std::min(sum.value, std::ceil(std::max(0.0, sum.value - std::sqrt(below))));
    sum.high = std::max(sum.value, std::floor(sum.value + std::sqrt(above)));
    return sum;
}

void growing_filter::append_to(std::vector<std::byte>& out) const {
    const geometry& first = stages_.front().geometry();
    out.resize(out.size() + 8);
    store_little(&out[out.size() - 8], std::bit_cast<std::uint64_t>(rate_));
    out.push_back(static_cast<std::byte>(first.layout));
    out.push_back(static_cast<std::byte>(first.hashes));
    out.push_back(static_cast<std::byte>(shrunk_));
    out.push_back(static_cast<std::byte>(stages_.size()));
    base::put_varint(out, items_);
    for (const bloom_filter& stage : stages_) {
        base::put_varint(out, stage.geometry().bits);
        base::put_varint(out, *stage.items());
        codec::append_bits(stage.bits(), out);
    }
}

result<growing_filter> growing_filter::parse(hasher hash, byte_view payload, std::uint64_t max_bytes) {
    base::reader in(payload);
    const auto rate = std::bit_cast<double>(in.number<std::uint64_t>());
    if (!check_rate(rate)) in.fail("a rate that does not lie between 0 and 1");
    posy::geometry g{.hash = hash.family(), .seed = hash.seed()};
    g.layout = static_cast<layout_id>(in.byte());
    g.hashes = in.byte();
    const std::uint8_t shrunk = in.byte();
    if (shrunk > 1) in.fail("an unknown state");
    const unsigned count = in.byte();
    if (count == 0 || count > max_stages) in.fail(std::to_string(count) + " arrays");
    const std::uint64_t items = in.varint();
    std::vector<bloom_filter> stages;
    std::uint64_t memory = 0;
    for (unsigned i = 0; i < count && !in.wrong(); ++i) {
        const std::uint64_t before = g.bits;
        g.bits = in.varint(max_bits);
        if (in.wrong()) break;
        if (auto valid = check(g); !valid) in.fail(valid.error().message);
        if (in.wrong()) break;
        const std::uint64_t unit = smallest_array(g);
        if (g.bits % (shrunk ? unit : least_units * unit) != 0 ||
            (i > 0 && !shrunk && g.bits != growth * before))
            in.fail("an array of " + std::to_string(g.bits) + " bits, which no growing filter has");
        if (in.wrong()) break;
        const std::uint64_t stage_items = in.varint(bloom_filter::max_items);
        auto bits = codec::take_bits(in, g.bits, max_bytes - memory);
        if (!bits) return bits.error();
        memory += bit_array::word_count(g.bits) * 8;
        stages.push_back(bloom_filter::from_bits(g, std::move(*bits), stage_items));
    }
    if (const auto& wrong = in.finish()) return *wrong;
    growing_filter parsed(rate, std::move(stages));
    parsed.shrunk_ = shrunk != 0;
    parsed.items_ = items;
    return parsed;
}

}  // namespace posy
