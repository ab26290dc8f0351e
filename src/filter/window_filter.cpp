#include "posy/window_filter.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/reader.hpp"
#include "codec/nested.hpp"
#include "posy/algebra.hpp"

namespace posy {
namespace {

result<void> check_generations(std::uint64_t slot, std::uint64_t generations) {
    if (generations == 0 || generations > window_filter::max_generations)
        return error{std::to_string(generations) + " generations; 1 to 254 are possible"};
    if (slot == 0 || slot > ~std::uint64_t{0} / (generations + 1))
        return error{"a window must be longer than nothing and shorter than all time"};
    return {};
}

}  // namespace

result<window_filter> window_filter::make(const posy::geometry& g, std::uint64_t window,
                                          unsigned generations) {
    const std::uint64_t slot = generations == 0 ? 0 : window / generations + (window % generations != 0);
    if (auto valid = check_generations(slot, generations); !valid) return valid.error();
    std::vector<bloom_filter> ring;
    for (unsigned i = 0; i <= generations; ++i) {
        auto filter = bloom_filter::make(g);
        if (!filter) return filter.error();
        ring.push_back(std::move(*filter));
    }
    return window_filter(slot, std::move(ring));
}

result<plan> window_filter::plan_generation(std::uint64_t items, double rate, unsigned generations,
                                            layout_id layout) {
    if (auto valid = check_generations(1, generations); !valid) return valid.error();
    if (!(rate > 0 && rate < 1)) return error{"the rate must lie between 0 and 1"};
    return choose({.items = std::max<std::uint64_t>(1, (items + generations - 1) / generations),
                   .rate = rate / (generations + 1),
                   .layout = layout});
}

result<window_filter> window_filter::with_rate(std::uint64_t items, double rate, std::uint64_t window,
                                               unsigned generations, layout_id layout, hasher hash) {
    const auto shape = plan_generation(items, rate, generations, layout);
    if (!shape) return shape.error();
    return make(shape->geometry(hash.family(), hash.seed()), window, generations);
}

// Slots between the newest and `number` are new, and empty.
void window_filter::advance(std::uint64_t number) {
    if (number <= newest_) return;
    const std::uint64_t fresh = std::min<std::uint64_t>(number - newest_, ring_.size());
    for (std::uint64_t i = 0; i < fresh; ++i) of(number - i).clear();
    newest_ = number;
}

// Calls use(filter) for every generation that a question at that time asks, the newest first.
template <class Use>
void window_filter::each_remembered(std::uint64_t time, Use use) const {
    const std::uint64_t now = std::max(time / slot_, newest_);
    const std::uint64_t oldest = now - std::min<std::uint64_t>(now, generations());
    for (std::uint64_t number = newest_; number >= oldest; --number) {
        use(of(number));
        if (number == 0) break;
    }
}

bool window_filter::insert(std::span<const digest> digests, std::uint64_t time) {
    const std::uint64_t number = time / slot_;
    if (newest_ > number && newest_ - number > generations()) return false;
    advance(number);
    of(number).insert(digests);
    return true;
}

bool window_filter::may_contain(digest d, std::uint64_t time) const {
    bool found = false;
    each_remembered(time, [&](const bloom_filter& filter) { found = found || filter.may_contain(d); });
    return found;
}

std::size_t window_filter::may_contain(std::span<const digest> digests, std::uint64_t time,
                                       std::span<bool> answers) const {
    assert(digests.size() == answers.size());
    // Block by block, so that the answers of one generation are still at hand for the next.
    constexpr std::size_t block = 256;
    std::array<bool, block> here;
    std::ranges::fill(answers, false);
    for (std::size_t from = 0; from < digests.size(); from += block) {
        const auto some = digests.subspan(from, std::min(block, digests.size() - from));
        each_remembered(time, [&](const bloom_filter& filter) {
            filter.may_contain(some, std::span(here).first(some.size()));
            for (std::size_t i = 0; i < some.size(); ++i) answers[from + i] = answers[from + i] || here[i];
        });
    }
    return static_cast<std::size_t>(std::ranges::count(answers, true));
}

double window_filter::false_positive_rate(std::uint64_t time) const {
    double right = 1;
    each_remembered(time, [&](const bloom_filter& filter) { right *= 1 - filter.false_positive_rate(); });
    return 1 - right;
}

std::uint64_t window_filter::items(std::uint64_t time) const {
    std::uint64_t sum = 0;
    each_remembered(time, [&](const bloom_filter& filter) { sum += *filter.items(); });
    return sum;
}

result<void> unite(window_filter& into, const window_filter& from) {
    if (into.geometry() != from.geometry()) return mismatch(into.geometry(), from.geometry());
    if (into.slot_ != from.slot_ || into.generations() != from.generations()) {
        const auto shape = [](const window_filter& w) {
            return std::to_string(w.generations()) + " generations of " + std::to_string(w.slot());
        };
        return error{"the windows differ: " + shape(into) + ", and " + shape(from) + "; only equals unite"};
    }
    into.advance(from.newest_);
    for (std::uint64_t age = 0; age < from.ring_.size() && age <= from.newest_; ++age) {
        const std::uint64_t number = from.newest_ - age;
        if (into.newest_ - number < into.ring_.size()) (void)unite(into.of(number), from.of(number));
    }
    return {};
}

void window_filter::append_to(std::vector<std::byte>& out) const {
    out.push_back(static_cast<std::byte>(geometry().layout));
    out.push_back(static_cast<std::byte>(geometry().hashes));
    out.push_back(static_cast<std::byte>(generations()));
    base::put_varint(out, geometry().bits);
    base::put_varint(out, slot_);
    base::put_varint(out, newest_);
    for (std::uint64_t age = 0; age < ring_.size() && age <= newest_; ++age) {
        const bloom_filter& filter = of(newest_ - age);
        base::put_varint(out, *filter.items());
        codec::append_bits(filter.bits(), out);
    }
}

result<window_filter> window_filter::parse(hasher hash, byte_view payload, std::uint64_t max_bytes) {
    base::reader in(payload);
    posy::geometry g{.hash = hash.family(), .seed = hash.seed()};
    g.layout = static_cast<layout_id>(in.byte());
    g.hashes = in.byte();
    const unsigned generations = in.byte();
    g.bits = in.varint(max_bits);
    if (!in.wrong()) {
        if (auto valid = check(g); !valid) in.fail(valid.error().message);
    }
    const std::uint64_t slot = in.varint();
    if (!in.wrong()) {
        if (auto valid = check_generations(slot, generations); !valid) in.fail(valid.error().message);
    }
    const std::uint64_t newest = in.varint();
    if (in.wrong()) return *in.wrong();
    if (newest > ~std::uint64_t{0} / slot) in.fail("a slot beyond all time");
    const std::uint64_t memory = (generations + 1) * bit_array::word_count(g.bits) * 8;
    if (memory > max_bytes) in.fail("a window of " + base::above_limit(memory, max_bytes));
    if (in.wrong()) return *in.wrong();
    auto parsed = make(g, slot * generations, generations);
    if (!parsed) return parsed;
    parsed->newest_ = newest;
    for (std::uint64_t age = 0; age <= generations && age <= newest; ++age) {
        const std::uint64_t items = in.varint(bloom_filter::max_items);
        auto bits = codec::take_bits(in, g.bits, max_bytes);
        if (!bits) return bits.error();
        parsed->of(newest - age) = bloom_filter::from_bits(g, std::move(*bits), items);
    }
    if (const auto& wrong = in.finish()) return *wrong;
    return parsed;
}

}  // namespace posy
