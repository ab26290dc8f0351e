#include "posy/count_min.hpp"

#include <cmath>

#include "checked.hpp"
#include "payload.hpp"
#include "posy/theory.hpp"
#include "sketch/row_hash.hpp"
#include "statistics.hpp"
#include "zipf.hpp"

namespace posy {
namespace {

constexpr std::array both_rules{update_rule::plain, update_rule::conservative};

// Every shape beside the definition, a table kept by hand.
TEST(count_min, is_the_table_of_its_definition) {
    for (const update_rule rule : both_rules) {
        for (const unsigned depth : {1u, 2u, 5u, 32u}) {
            for (const std::uint64_t width : {1u, 2u, 13u, 1000u}) {
                const hasher hash(hash_family::xxh3, {depth, 0});
                checked sketch(*count_min::make(hash, width, depth, rule));
                std::vector<std::uint64_t> table(width * depth);
                std::mt19937_64 random(width);
                for (int step = 0; step < 500; ++step) {
                    const std::uint64_t key = random() % 100, weight = random() % 9;
                    std::vector<std::size_t> at;
                    for (unsigned row = 0; row < depth; ++row)
                        at.push_back(row * width + sketch::row_hash(hash.seed(), row)(hash(key), width));
                    std::uint64_t least = table[at[0]];
                    for (const std::size_t i : at) least = std::min(least, table[i]);
                    for (const std::size_t i : at) {
                        table[i] = rule == update_rule::plain ? table[i] + weight
                                                              : std::max(table[i], least + weight);
                    }
                    EXPECT_EQ(sketch.add(hash(key), weight), least + weight);
                }
                for (std::size_t i = 0; i < table.size(); ++i) ASSERT_EQ(sketch->counter(i), table[i]);
                EXPECT_LE(sketch.estimate(hash("never seen")), sketch->total());
                EXPECT_EQ(*sketch.sent(), *sketch);
            }
        }
    }
}

TEST(count_min, batches_count_as_single_calls_do) {
    const stream s(1.2, 500, 1000, 3);
    for (const update_rule rule : both_rules) {
        for (const std::size_t length : {0u, 1u, 63u, 64u, 65u, 1000u}) {
            const hasher hash(hash_family::siphash, {5, 6});
            const auto empty = [&] { return *count_min::make(hash, 101, 3, rule); };
            checked one(empty()), by_key(empty()), by_digest(empty()), silent(empty());
            const std::span<const std::uint64_t> keys = std::span(s.items).first(length);
            std::vector<digest> digests(length);
            std::vector<std::uint64_t> single(length), batch(length);
            for (std::size_t i = 0; i < length; ++i) single[i] = one.add(digests[i] = hash(keys[i]));
            by_key.add(keys, batch);
            EXPECT_EQ(batch, single);
            batch.assign(length, 0);
            by_digest.add(digests, batch);
            EXPECT_EQ(batch, single);
            silent.add(digests);
            EXPECT_EQ(*one, *by_key);
            EXPECT_EQ(*one, *by_digest);
            EXPECT_EQ(*one, *silent);
            EXPECT_EQ(one->total(), length);
            one.estimate(digests, batch);
        }
    }
}

// Broder and Mitzenmacher 2004, figure 2, made of flows: 2 bytes of the flow, then other flows in two of its
// counters, and its least counter is still 2. Four bytes more lift its counters to 6 and no further.
TEST(count_min, figure_2) {
    const hasher hash;
    auto sketch = *count_min::make(hash, 16, 3, update_rule::conservative);
    const digest flow = hash("flow");
    const auto index = [&](unsigned row, digest d) { return row * 16 + sketch::row_hash({}, row)(d, 16); };
    // A flow that meets ours in that row alone.
    const auto other_flow_in = [&](unsigned row) {
        for (int key = 0;; ++key) {
            bool only_there = true;
            for (unsigned r = 0; r < 3; ++r)
                only_there = only_there && (index(r, hash(key)) == index(r, flow)) == (r == row);
            if (only_there) return hash(key);
        }
    };
    sketch.add(flow, 2);
    sketch.add(other_flow_in(1), 3);
    sketch.add(other_flow_in(2), 8);
    const auto counter = [&](unsigned row) { return sketch.counter(index(row, flow)); };
    EXPECT_EQ(counter(0), 2u);
    EXPECT_EQ(counter(1), 3u);
    EXPECT_EQ(counter(2), 8u);
    EXPECT_EQ(sketch.estimate(flow), 2u);
    EXPECT_EQ(sketch.add(flow, 4), 6u);
    EXPECT_EQ(counter(0), 6u);
    EXPECT_EQ(counter(1), 6u);
    EXPECT_EQ(counter(2), 8u);
}

struct errors {
    double mean = 0;     // over the keys that came
    double by_item = 0;  // over the items of the stream: each key as often as it came
    double above = 0;    // the share of the keys beyond the guarantee
};

errors errors_of(const count_min& sketch, const stream& s) {
    errors e;
    sample excesses(1000, "keys that came");
    for (std::size_t key = 1; key < s.truth.size(); ++key) {
        if (s.truth[key] == 0) continue;
        const double excess = static_cast<double>(sketch.estimate(sketch.hash()(key))) - s.truth[key];
        excesses.add(excess);
        e.by_item += excess * s.truth[key];
        e.above += excess > sketch.error_bound();
    }
    EXPECT_GE(excesses.lowest(), 0);
    return {excesses.mean(), e.by_item / static_cast<double>(s.items.size()),
            e.above / static_cast<double>(excesses.count())};
}

// The guarantee, the prediction and the gain of the conservative rule, on a Zipf stream and an even one. 12
// sketches with seeds of their own; the mean error lies within 6 standard errors of the prediction (Student's
// t with 11 degrees of freedom: a false alarm in 10^4), of which theory claims to be exact but for the
// stream's own keys: 1 % is granted for that.
TEST(count_min, errors_are_within_the_guarantee_and_as_predicted) {
    for (const double exponent : {1.1, 0.01}) {
        const stream s(exponent, 200'000, 1'000'000, 11);
        std::vector<double> frequencies;
        for (const std::uint32_t f : s.truth)
            if (f > 0) frequencies.push_back(f);
        constexpr unsigned sketches = 12;
        sample means(sketches, "exponent " + std::to_string(exponent));
        double conservative_mean = 0, by_item = 0, conservative_by_item = 0;
        for (unsigned seed = 0; seed < sketches; ++seed) {
            const hasher hash(hash_family::xxh3, {seed, 0});
            auto plain = *count_min::with_guarantee(hash, 5e-4, 0.02);
            auto conservative = *count_min::with_guarantee(hash, 5e-4, 0.02, update_rule::conservative);
            plain.add(std::span<const std::uint64_t>(s.items));
            conservative.add(std::span<const std::uint64_t>(s.items));
            const errors p = errors_of(plain, s), c = errors_of(conservative, s);
            EXPECT_LE(p.above, plain.delta());
            EXPECT_LE(c.above, plain.delta());
            for (std::uint64_t i = 0; i < plain.counters(); ++i)
                ASSERT_LE(conservative.counter(i), plain.counter(i));
            means.add(p.mean);
            conservative_mean += c.mean / sketches;
            by_item += p.by_item;
            conservative_by_item += c.by_item;
        }
        const auto shape = *count_min::with_guarantee(hasher(), 5e-4, 0.02);
        const double predicted =
            theory::count_min_error(frequencies, static_cast<double>(shape.width()), shape.depth());
        means.expect_mean(predicted, 6, 0.01 * predicted);
        EXPECT_GT(means.mean(), conservative_mean);
        if (exponent > 1) {
            EXPECT_GT(by_item, 3 * conservative_by_item);
        }
    }
}

TEST(count_min, shapes_and_refusals) {
    const hasher hash;
    const auto guaranteed = *count_min::with_guarantee(hash, 0.001, 0.01);
    EXPECT_EQ(guaranteed.width(), 2719u);  // e / 0.001 = 2718.3
    EXPECT_EQ(guaranteed.depth(), 5u);     // ln 100 = 4.6
    EXPECT_LE(guaranteed.epsilon(), 0.001);
    EXPECT_LE(guaranteed.delta(), 0.01);
    const auto megabyte = *count_min::with_bytes(hash, 1 << 20);
    EXPECT_EQ(megabyte.width(), 65'536u);
    EXPECT_EQ(megabyte.counters() * 4, 1u << 20);
    for (const double bad : {0.0, 1.0, -1.0, std::nan("")}) {
        EXPECT_FALSE(count_min::with_guarantee(hash, bad, 0.5));
        EXPECT_FALSE(count_min::with_guarantee(hash, 0.5, bad));
    }
    EXPECT_FALSE(count_min::with_guarantee(hash, 1e-10, 0.5));
    EXPECT_FALSE(count_min::with_guarantee(hash, 0.5, 1e-15));
    EXPECT_FALSE(count_min::make(hash, 0, 3));
    EXPECT_EQ(count_min::make(hash, 3, 0).error().message, "0 rows; 1 to 32 are possible");
    EXPECT_FALSE(count_min::make(hash, 3, 33));
    EXPECT_FALSE(count_min::make(hash, count_min::max_counters, 2));
    EXPECT_FALSE(count_min::make(hash, 3, 3, update_rule{3}));
    EXPECT_FALSE(count_min::make(hasher(hash_family{9}), 3, 3));
    EXPECT_FALSE(count_min::make(hasher(hash_family::xxh3, {0, 1}), 3, 3));
    EXPECT_FALSE(count_min::with_bytes(hash, 11, 3));
}

TEST(count_min, saturates_and_never_wraps) {
    for (const update_rule rule : both_rules) {
        for (const counter_width width : members<counter_width>) {
            auto sketch = *count_min::make(hasher(), 100, 3, rule, width);
            const std::uint64_t largest = largest_of(width);
            const digest d = hasher()("heavy");
            EXPECT_EQ(sketch.add(d, largest - 15), largest - 15);
            EXPECT_EQ(sketch.add(d, 100), largest);
            sketch.add(std::span(&d, 1));
            EXPECT_EQ(sketch.estimate(d), largest);
            EXPECT_EQ(sketch.add(d, ~std::uint64_t{0}), largest);
            EXPECT_EQ(sketch.total(), ~std::uint64_t{0});
            expect_robust(sketch);
            sketch.clear();
            EXPECT_EQ(sketch.total(), 0u);
            EXPECT_EQ(sketch.estimate(d), 0u);
        }
    }
}

// Weights of 2^40 and sums above 10^15, beside a table kept by hand.
TEST(count_min, wide_counters_hold_large_sums) {
    const hasher hash;
    constexpr std::uint64_t large = std::uint64_t{1} << 40, width = 13;
    for (const update_rule rule : both_rules) {
        checked sketch(*count_min::make(hash, width, 3, rule, counter_width::bits_64));
        std::vector<std::uint64_t> table(3 * width);
        std::mt19937_64 random(9);
        for (int step = 0; step < 2000; ++step) {
            const std::uint64_t key = random() % 40, weight = random() % large;
            std::array<std::size_t, 3> at;
            for (unsigned row = 0; row < 3; ++row)
                at[row] = row * width + sketch::row_hash(hash.seed(), row)(hash(key), width);
            const std::uint64_t least = std::min({table[at[0]], table[at[1]], table[at[2]]});
            for (const std::size_t i : at)
                table[i] =
                    rule == update_rule::plain ? table[i] + weight : std::max(table[i], least + weight);
            EXPECT_EQ(sketch.add(hash(key), weight), least + weight);
        }
        EXPECT_GT(sketch->total(), 1'000'000'000'000'000u);
        for (std::size_t i = 0; i < table.size(); ++i) ASSERT_EQ(sketch->counter(i), table[i]);
        EXPECT_EQ(*sketch.sent(), *sketch);
        expect_robust(*sketch);
    }
    EXPECT_EQ(count_min::with_bytes(hash, 1 << 20, 4, update_rule::plain, counter_width::bits_64)->width(),
              32'768u);
}

// Two halves that fit 32 bits, and a whole that does not: nothing is lost, and counting goes on.
TEST(count_min, a_union_widens_where_sums_need_it) {
    const hasher hash;
    const auto half = [&](counter_width width = counter_width::bits_32) {
        auto sketch = *count_min::make(hash, 50, 3, update_rule::plain, width);
        sketch.add(hash("heavy"), 0xc0000000);
        sketch.add(hash("light"), 5);
        return sketch;
    };
    for (const counter_width mine : members<counter_width>) {
        for (const counter_width other : members<counter_width>) {
            auto sum = half(mine);
            ASSERT_TRUE(unite(sum, half(other)));
            EXPECT_EQ(sum.counter_width(), counter_width::bits_64);
            EXPECT_EQ(sum.estimate(hash("heavy")), 0x180000000u);
            EXPECT_EQ(sum.estimate(hash("light")), 10u);
            EXPECT_EQ(sum.total(), 0x18000000au);
            EXPECT_EQ(sum.add(hash("heavy"), 0x80000000), 0x200000000u);
            expect_robust(sum);
        }
    }
    // What stuck at 32 bits is not known, so there is no count for it in 64.
    auto stuck = half();
    stuck.add(hash("heavy"), 0xc0000000);
    EXPECT_EQ(stuck.estimate(hash("heavy")), 0xffffffffu);
    EXPECT_FALSE(unite(stuck, half(counter_width::bits_64)));
    EXPECT_FALSE(unite(stuck, half()));
    auto wide = half(counter_width::bits_64);
    EXPECT_FALSE(unite(wide, stuck));
    EXPECT_EQ(wide, half(counter_width::bits_64));  // nothing has changed
    EXPECT_EQ(stuck.estimate(hash("heavy")), 0xffffffffu);
    // Nothing is widened without need.
    auto small = *count_min::make(hash, 50, 3);
    small.add(hash("light"), 7);
    ASSERT_TRUE(unite(small, half()));
    EXPECT_EQ(small.counter_width(), counter_width::bits_32);
}

TEST(count_min, uniting) {
    const stream all(1.1, 3000, 20'000, 5);
    const hasher hash;
    const std::span<const std::uint64_t> items(all.items);
    for (const update_rule rule : both_rules) {
        const auto empty = [&] { return *count_min::make(hash, 200, 4, rule); };
        checked a(empty()), b(empty()), whole(empty());
        auto plain = *count_min::make(hash, 200, 4);
        a.add(items.first(8000));
        b.add(items.subspan(8000, 9000));
        ASSERT_TRUE(unite(a, b));
        whole.add(items.first(17'000));
        if (rule == update_rule::plain) {
            EXPECT_EQ(*a, *whole);
        }
        // Counting goes on, and the promise holds.
        a.add(items.subspan(17'000));
        plain.add(items);
        EXPECT_EQ(a->total(), 20'000u);
        for (std::size_t key = 1; key < all.truth.size(); ++key)
            EXPECT_EQ(a.number_of(hash(key)).value_or(0), all.truth[key]);
        for (std::uint64_t i = 0; i < plain.counters(); ++i) ASSERT_LE(a->counter(i), plain.counter(i));
        expect_robust(*a);
    }
    auto sketch = *count_min::make(hash, 200, 4);
    const auto refusal = [&](const result<count_min>& other) {
        return unite(sketch, *other).error().message;
    };
    EXPECT_EQ(
        refusal(count_min::make(hash, 201, 4)),
        "the sketches differ: 4 rows of 200, plain, and 4 rows of 201, plain; only sketches of one shape and "
        "rule unite");
    EXPECT_EQ(
        refusal(count_min::make(hash, 200, 4, update_rule::conservative)),
        "the sketches differ: 4 rows of 200, plain, and 4 rows of 200, conservative; only sketches of one "
        "shape and rule unite");
    EXPECT_EQ(refusal(count_min::make(hasher(hash_family::xxh3, {1}), 200, 4)),
              "the sketches differ in hash family or seed; only equals unite");
}

// Rule, rows, width, total; then the counters, a run of zeros as 00 and how many more.
TEST(count_min, bytes) {
    auto plain = *count_min::make(hasher(), 4, 2);
    EXPECT_EQ(hex(payload_of(plain)), "010204000007");
    auto conservative = *count_min::make(hasher(), 4, 2, update_rule::conservative);
    for (int key = 0; key < 6; ++key) {
        plain.add(hasher()(key), 100);
        conservative.add(hasher()(key), 100);
    }
    EXPECT_EQ(hex(payload_of(plain)), "010204d804640000ac02c801c80164c80164");
    EXPECT_EQ(hex(payload_of(conservative)), "020204d804640000c801646464c80164");
    expect_robust(plain);
    expect_robust(conservative);
    // The highest bit of the first byte: counters of 64 bits.
    auto wide = *count_min::make(hasher(), 4, 2, update_rule::plain, counter_width::bits_64);
    wide.add(hasher()(0), std::uint64_t{1} << 40);
    EXPECT_EQ(hex(payload_of(wide)), "810204808080808020000180808080802000008080808080200002");
}

TEST(count_min, parsing_keeps_its_limits) {
    auto sketch = *count_min::make(hasher(), 1 << 20, 8);
    const auto bytes = payload_of(sketch);
    EXPECT_LT(bytes.size(), 20u);  // an empty table is a run of zeros
    EXPECT_TRUE(count_min::parse(hasher(), bytes, read_limits::exactly(1 << 25)));
    const auto refused = count_min::parse(hasher(), bytes, read_limits::exactly((1 << 25) - 1));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("above the limit of 33554431"), std::string::npos);
    EXPECT_FALSE(count_min::parse(hasher(hash_family{9}), bytes, plenty));
    // Rows that do not add up to what was counted.
    auto small = *count_min::make(hasher(), 3, 1);
    small.add(hasher()("x"), 5);
    auto wrong = payload_of(small);
    ASSERT_EQ(wrong[3], std::byte{5});
    wrong[3] = std::byte{6};
    EXPECT_EQ(count_min::parse(hasher(), wrong, plenty).error().message,
              "row 0 holds 5 where 6 were counted; the bytes are damaged");
}

}  // namespace
}  // namespace posy
