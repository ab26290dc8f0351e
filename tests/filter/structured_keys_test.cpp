// Keys as programs have them are not random: the rate is the predicted one nevertheless.
//
// A row is a kind of keys in a layout: a filter of 10^6 of them, asked for 4·10^6 others of the same kind.
// The answers are nearly independent, so the tolerance is four standard deviations of a binomial count, and
// one of the spread of the rate between filters, which is less: a false alarm in 15,000 per row, 1 in 190 for
// all 80 rows. Seeds are fixed.
#include <cmath>
#include <functional>
#include <memory>

#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr std::uint64_t items = 1'000'000, absent = 4'000'000;

std::uint64_t reversed(std::uint64_t x) {
    std::uint64_t r = 0;
    for (int i = 0; i < 64; ++i) r |= (x >> i & 1) << (63 - i);
    return r;
}

// The bits of x, far from each other: all others are zero.
std::uint64_t sparse(std::uint64_t x) {
    std::uint64_t r = 0;
    for (int i = 0; i < 23; ++i) r |= (x >> i & 1) << i * 11 / 4;
    return r;
}

struct kind_of_keys {
    std::string name;
    std::function<std::uint64_t(std::uint64_t)> key;  // of an index
};

const std::vector<kind_of_keys>& kinds() {
    static const std::vector<kind_of_keys> all{
        {"sequence", [](std::uint64_t i) { return i; }},
        {"stride_1000", [](std::uint64_t i) { return i * 1000; }},
        {"multiples_of_2_40", [](std::uint64_t i) { return i << 40; }},
        {"negative", [](std::uint64_t i) { return ~i; }},
        {"bit_reversed", reversed},
        {"low_entropy", sparse},
        {"addresses", [](std::uint64_t i) { return 0x00007f0000000000 + i * 64; }},
        {"two_halves", [](std::uint64_t i) { return i << 32 | (i * 7 & 0xffffffff); }},
    };
    return all;
}

void expect_predicted_rate(const kind_of_keys& kind, const geometry& g) {
    auto filter = *bloom_filter::make(g);
    std::vector<std::uint64_t> keys(items);
    for (std::uint64_t i = 0; i < items; ++i) keys[i] = kind.key(i);
    filter.insert(keys);
    const double rate = predict(items, g)->false_positive_rate;
    std::uint64_t yes = 0;
    const std::unique_ptr<bool[]> answers(new bool[items]);
    for (std::uint64_t first = items; first < items + absent; first += items) {
        for (std::uint64_t i = 0; i < items; ++i) keys[i] = kind.key(first + i);
        yes += filter.may_contain(keys, {answers.get(), items});
    }
    const double expected = rate * static_cast<double>(absent);
    EXPECT_NEAR(static_cast<double>(yes), expected, 4 * std::sqrt(expected * (1 - rate)))
        << kind.name << " " << describe(g);
}

class structured_keys : public testing::TestWithParam<layout_id> {};
INSTANTIATE_TEST_SUITE_P(rate, structured_keys, testing::ValuesIn(members<layout_id>),
                         [](const auto& row) { return std::string(name_of(row.param)); });

TEST_P(structured_keys, have_the_predicted_rate) {
    at_least rows(16, "kinds of keys");
    for (const hash_family hash : {hash_family::fold64, hash_family::xxh3}) {
        const auto plan = *choose({.items = items, .bits_per_item = 10, .hashes = 8, .layout = GetParam()});
        for (const kind_of_keys& kind : kinds()) {
            expect_predicted_rate(kind, plan.geometry(hash));
            ++rows;
        }
    }
}

}  // namespace
}  // namespace posy
