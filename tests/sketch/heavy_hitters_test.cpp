#include "posy/heavy_hitters.hpp"

#include <algorithm>
#include <map>

#include "checked.hpp"
#include "payload.hpp"
#include "sketch/zipf.hpp"

namespace posy {
namespace {

struct sample {
    std::vector<std::string> keys;
    std::map<std::string, std::uint64_t> truth;

    void add(const std::string& key, int times = 1) {
        for (int i = 0; i < times; ++i) keys.push_back(key);
        truth[key] += static_cast<unsigned>(times);
    }
};

// Streams that are hard in different ways: skew, even, the heavy first, the heavy last, many of equal weight.
std::vector<sample> samples() {
    std::vector<sample> all(5);
    for (const std::uint64_t key : stream(1.2, 5000, 20'000, 1).items) all[0].add("z" + std::to_string(key));
    for (const std::uint64_t key : stream(0.01, 500, 20'000, 2).items) all[1].add("e" + std::to_string(key));
    for (int key = 0; key < 12; ++key) all[2].add("early" + std::to_string(key), 700);
    for (int key = 0; key < 9000; ++key) all[2].add("light" + std::to_string(key));
    for (int key = 0; key < 9000; ++key) all[3].add("light" + std::to_string(key));
    for (int key = 0; key < 12; ++key) all[3].add("late" + std::to_string(key), 700);
    for (int round = 0; round < 100; ++round) {
        for (int key = 0; key < 100; ++key) all[4].add("equal" + std::to_string(key));
    }
    return all;
}

// A plain object, or a checked one, whose every report is compared with the truth.
template <class Hitters>
void feed(Hitters& hitters, std::span<const std::string> keys) {
    for (const std::string& key : keys) hitters.add(key, hasher()(key));
}

// With a sketch of ε = φ/2 there is room for all candidates, and the promise is the one asked for: every key
// of at least φN. So it is with a sketch that errs a lot (depth 1), as long as nothing had to be dropped.
TEST(heavy_hitters, every_key_above_the_threshold_is_reported) {
    for (const sample& s : samples()) {
        for (const double phi : {0.2, 0.03, 0.009}) {
            for (const update_rule rule : {update_rule::plain, update_rule::conservative}) {
                for (const double delta : {0.3, 0.01}) {
                    checked hitters(*heavy_hitters::above(
                        *count_min::with_guarantee(hasher(), phi / 2, delta, rule), phi));
                    feed(hitters, s.keys);
                    const auto report = hitters.report();
                    const double threshold = phi * static_cast<double>(s.keys.size());
                    EXPECT_EQ(report.complete_from, static_cast<std::uint64_t>(std::ceil(threshold)));
                    for (const heavy_hitter& each : report.keys) EXPECT_GE(each.count, threshold);
                    if (delta < 0.1) {
                        EXPECT_LE(report.keys.size(), 2 / phi + 1);
                    }
                }
            }
        }
    }
}

TEST(heavy_hitters, the_top) {
    for (const sample& s : samples()) {
        for (const std::uint64_t k : {1u, 10u, 100u, 6000u}) {
            for (const std::uint64_t width : {20u, 4000u}) {
                checked hitters(
                    *heavy_hitters::top(*count_min::make(hasher(), width, 4, update_rule::conservative), k));
                feed(hitters, s.keys);
                EXPECT_EQ(hitters.report().keys.size(), std::min<std::size_t>(k, s.truth.size()));
            }
        }
    }
}

// With a good sketch the ten most frequent keys of a Zipf stream are just that.
TEST(heavy_hitters, the_top_is_the_top) {
    const sample s = samples()[0];
    auto hitters = *heavy_hitters::top(*count_min::make(hasher(), 5000, 4, update_rule::conservative), 10);
    feed(hitters, s.keys);
    std::vector<std::pair<std::uint64_t, std::string>> order;
    for (const auto& [key, count] : s.truth) order.emplace_back(count, key);
    std::ranges::sort(order, std::greater<>());
    const auto report = hitters.report();
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(report.keys[i].key, order[i].second);
        EXPECT_EQ(report.keys[i].count, order[i].first);
    }
    EXPECT_LE(report.complete_from, order[9].first);
}

// One row: every light key in the heavy one's counter looks as heavy. The list is cut, and says so.
TEST(heavy_hitters, more_candidates_than_room) {
    sample s;
    s.add("heavy", 6000);
    for (int key = 0; key < 3000; ++key) s.add("k" + std::to_string(key));
    checked hitters(*heavy_hitters::above(*count_min::make(hasher(), 28, 1), 0.3));
    feed(hitters, s.keys);
    EXPECT_EQ(hitters->room(), 10u);  // 2/(0.3 − e/28)
    const auto report = hitters.report();
    EXPECT_GT(report.complete_from, 6000u);
    EXPECT_LT(report.keys.size(), 20u);
    EXPECT_EQ(hitters.sent().report().keys, report.keys);
    expect_robust(*hitters);
}

TEST(heavy_hitters, batches_and_weights) {
    const sample s = samples()[0];
    const hasher hash;
    std::vector<std::string_view> keys(s.keys.begin(), s.keys.end());
    std::vector<digest> digests(keys.size());
    hash(keys, digests);
    checked one(*heavy_hitters::top(*count_min::make(hash, 300, 3), 20));
    checked batch(*heavy_hitters::top(*count_min::make(hash, 300, 3), 20));
    checked weighted(*heavy_hitters::above(*count_min::make(hash, 300, 3), 0.02));
    feed(one, s.keys);
    batch.add(keys, digests);
    EXPECT_EQ(one->sketch(), batch->sketch());
    EXPECT_EQ(batch.report().keys.size(), 20u);
    for (const auto& [key, count] : s.truth) weighted.add(key, hash(key), count);
    EXPECT_GT(weighted.report().keys.size(), 0u);
    EXPECT_EQ(weighted->sketch().total(), s.keys.size());
}

TEST(heavy_hitters, uniting) {
    for (const sample& s : samples()) {
        for (const std::uint64_t width : {40u, 3000u}) {
            const auto sketch = [&] {
                return *count_min::make(hasher(), width, 3, update_rule::conservative);
            };
            const std::span keys(s.keys);
            for (const bool top : {true, false}) {
                const auto empty = [&] {
                    return top ? *heavy_hitters::top(sketch(), 15) : *heavy_hitters::above(sketch(), 0.1);
                };
                checked a(empty()), b(empty());
                feed(a, keys.first(keys.size() / 3));
                feed(b, keys.subspan(keys.size() / 3, keys.size() / 3));
                ASSERT_TRUE(unite(a, b));
                feed(a, keys.subspan(keys.size() / 3 * 2));
                EXPECT_EQ(a->sketch().total(), keys.size());
                a.report();
            }
        }
    }
    const auto sketch = [](unsigned depth) { return *count_min::make(hasher(), 40, depth); };
    auto a = *heavy_hitters::top(sketch(3), 5);
    EXPECT_TRUE(unite(a, *heavy_hitters::top(sketch(3), 6)));
    EXPECT_EQ(a.room(), 6u);
    EXPECT_FALSE(unite(a, *heavy_hitters::top(sketch(4), 5)));
    EXPECT_FALSE(unite(a, *heavy_hitters::above(sketch(3), 0.1)));
}

using list = heavy_hitters::list;

// The same keys and counts, from the count on from which both say so.
void expect_same(const list& a, const list& b) {
    const std::uint64_t from = std::max(a.stable_from, b.stable_from);
    const auto cut = [&](std::vector<heavy_hitter> keys) {
        std::erase_if(keys, [&](const heavy_hitter& each) { return each.count < from; });
        return keys;
    };
    EXPECT_EQ(cut(a.keys), cut(b.keys));
}

// Parts of a stream in three ways: one piece after the other, dealt out like cards, and sorted by key, so
// that a key is in one part alone.
std::vector<std::vector<std::string>> split(const std::vector<std::string>& keys, int way,
                                            std::size_t parts) {
    std::vector<std::string> order = keys;
    if (way == 2) std::ranges::sort(order);
    std::vector<std::vector<std::string>> all(parts);
    for (std::size_t i = 0; i < order.size(); ++i)
        all[way == 1 ? i % parts : i * parts / order.size()].push_back(order[i]);
    return all;
}

// Plain sketches of parts, united, have the heavy hitters of one sketch over all the data: with a threshold
// the whole list, and the top as far as the list says. Streams and seed are fixed, so there is no chance in
// this test: no key of these streams errs by more than εN.
TEST(heavy_hitters, united_lists_are_those_of_one_sketch_over_all) {
    for (const sample& s : samples()) {
        for (const bool top : {false, true}) {
            const auto empty = [&] {
                auto sketch = *count_min::with_guarantee(hasher(), 0.0005, 0.01);
                return top ? *heavy_hitters::top(std::move(sketch), 160)
                           : *heavy_hitters::above(std::move(sketch), 0.0021);
            };
            auto whole = empty();
            feed(whole, s.keys);
            const list expected = whole.report(10);
            ASSERT_GT(expected.keys.size(), 0u);
            if (!top) EXPECT_EQ(expected.stable_from, std::ceil(0.0021 * static_cast<double>(s.keys.size())));
            for (const int way : {0, 1, 2}) {
                for (const std::size_t parts : {2u, 24u}) {
                    auto united = empty();
                    for (const auto& part : split(s.keys, way, parts)) {
                        auto one = empty();
                        feed(one, part);
                        ASSERT_TRUE(unite(united, one));
                    }
                    EXPECT_EQ(united.sketch(), whole.sketch());
                    if (!top) EXPECT_EQ(united.report().keys, whole.report().keys);
                    expect_same(united.report(10), expected);
                }
            }
        }
    }
}

// A key that is in no part's top ten, and first in all: each part has ten loud keys of its own.
TEST(heavy_hitters, room_to_spare_finds_what_is_heavy_in_no_part) {
    const auto empty = [](std::uint64_t room) {
        return *heavy_hitters::top(*count_min::with_guarantee(hasher(), 0.0001, 0.01), room);
    };
    for (const std::uint64_t room : {5u, 80u}) {
        auto united = empty(room);
        for (int hour = 0; hour < 24; ++hour) {
            auto one = empty(room);
            sample s;
            for (int key = 0; key < 40; ++key)
                s.add("hour " + std::to_string(hour) + " key " + std::to_string(key), key < 10 ? 100 : 1);
            s.add("every hour", 50);
            feed(one, s.keys);
            EXPECT_NE(one.report(5).keys[0].key, "every hour");
            ASSERT_TRUE(unite(united, one));
        }
        const list found = united.report(5);
        const bool sure = found.stable_from <= 24 * 50;
        EXPECT_EQ(sure, room == 80);
        EXPECT_EQ(!found.keys.empty() && found.keys[0] == heavy_hitter({"every hour", 24 * 50}), sure);
    }
}

TEST(heavy_hitters, large_sums_and_counts) {
    auto hitters = *heavy_hitters::top(
        *count_min::make(hasher(), 1000, 4, update_rule::plain, counter_width::bits_64), 4);
    constexpr std::uint64_t large = std::uint64_t{1} << 40;
    for (std::uint64_t key = 1; key <= 20; ++key)
        for (int i = 0; i < 100; ++i) hitters.add(std::to_string(key), hasher()(key), key * large);
    const list found = hitters.report(2);
    EXPECT_EQ(found.keys, std::vector<heavy_hitter>({{"20", 2000 * large}, {"19", 1900 * large}}));
    EXPECT_GT(found.keys[0].count, 1'000'000'000'000'000u);
    expect_robust(hitters);
}

TEST(heavy_hitters, refusals) {
    const auto sketch = [] { return *count_min::make(hasher(), 100, 3); };
    EXPECT_FALSE(heavy_hitters::above(sketch(), 0.02));  // below ε
    EXPECT_FALSE(heavy_hitters::above(sketch(), 1));
    EXPECT_FALSE(heavy_hitters::above(sketch(), std::nan("")));
    EXPECT_FALSE(heavy_hitters::top(sketch(), 0));
    auto used = sketch();
    used.add(hasher()("x"));
    EXPECT_FALSE(heavy_hitters::top(std::move(used), 3));
}

// φ, room, what was dropped, the candidates by digest, the sketch.
TEST(heavy_hitters, bytes) {
    auto hitters = *heavy_hitters::above(*count_min::make(hasher(), 8, 1), 0.5);
    feed(hitters, std::vector<std::string>{"a", "b", "a", "a", "a"});
    EXPECT_EQ(hex(payload_of(hitters)),
              "000000000000e03f"
              "00"
              "4d4c23e8ea81c43f"
              "0d"
              "00"
              "02"
              "3f84d8441c0b5a57d47fc91ae312224b"
              "01"
              "0162"
              "1f4e961eb632c6e63468f15a70af6fa9"
              "04"
              "0161"
              "010108050000040000010003");
    expect_robust(hitters);
}

// The form without a share from which keys are kept: it is φ, and the list is stable from (φ + ε)N on.
TEST(heavy_hitters, bytes_of_the_first_form) {
    const auto bytes = unhex(
        "000000000000e03f"
        "070002"
        "3f84d8441c0b5a57d47fc91ae312224b"
        "010162"
        "1f4e961eb632c6e63468f15a70af6fa9"
        "040161"
        "010108050000040000010003");
    const auto old = heavy_hitters::parse(hasher(), bytes, plenty);
    ASSERT_TRUE(old) << old.error().text();
    EXPECT_EQ(hex(payload_of(*old)), hex(bytes));
    EXPECT_EQ(old->report().keys, std::vector<heavy_hitter>({{"a", 4}}));
    EXPECT_EQ(old->report().stable_from, std::ceil((0.5 + old->sketch().epsilon()) * 5));
    expect_robust(*old);
}

TEST(heavy_hitters, parsing_keeps_its_limits) {
    auto hitters = *heavy_hitters::top(*count_min::make(hasher(), 8, 1), 50);
    feed(hitters, std::vector<std::string>{std::string(1000, 'a'), "b"});
    const auto bytes = payload_of(hitters);
    EXPECT_TRUE(heavy_hitters::parse(hasher(), bytes, read_limits::exactly(1200)));
    EXPECT_FALSE(heavy_hitters::parse(hasher(), bytes, read_limits::exactly(1000)));
    // A candidate with a count above the estimate of the sketch.
    auto wrong = bytes;
    const auto text = as_byte_view("b");
    const auto at = std::search(wrong.begin(), wrong.end(), text.begin(), text.end());
    ASSERT_EQ(*(at - 2), std::byte{1});
    *(at - 2) = std::byte{3};
    EXPECT_FALSE(heavy_hitters::parse(hasher(), wrong, plenty));
}

// Digests chosen to fall into one bucket of a hash table, and as many that are random.
TEST(heavy_hitters, parsing_takes_no_digests_that_collide) {
    for (const bool chosen : {true, false}) {
        auto hitters = *heavy_hitters::top(*count_min::make(hasher(), 8, 1), 500);
        for (std::uint64_t i = 0; i < 500; ++i)
            hitters.add(std::to_string(i), chosen ? digest{i, i} : hasher()(i), 1);
        EXPECT_EQ(bool(heavy_hitters::parse(hasher(), payload_of(hitters), plenty)), !chosen);
    }
}

}  // namespace
}  // namespace posy
