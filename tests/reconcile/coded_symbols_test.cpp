#include "reconcile/coded_symbols.hpp"

#include <array>
#include <cmath>
#include <map>

#include "sets.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

// Whatever the digests look like: an element is in symbol i with probability 1 / (1 + i/2), and in i and j
// with the product. 5 deviations of a binomial, 48 checks for each of four kinds of digests: a false alarm in
// 9,000 runs, had the seed not been fixed.
void expect_density(const std::vector<digest>& elements, const std::string& what) {
    constexpr std::array<std::uint64_t, 12> watched{0, 1, 2, 3, 4, 7, 12, 30, 31, 100, 500, 2000};
    std::map<std::uint64_t, std::uint64_t> in;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> in_both;
    for (const digest& element : elements) {
        std::vector<std::uint64_t> met;
        for (symbol_places places(element); places.index() <= watched.back(); places.advance()) {
            if (std::ranges::count(watched, places.index()) > 0) met.push_back(places.index());
        }
        for (std::size_t i = 0; i < met.size(); ++i) {
            ++in[met[i]];
            for (std::size_t j = 0; j < i; ++j) ++in_both[{met[j], met[i]}];
        }
    }
    const auto share = [](std::uint64_t i) { return 2 / static_cast<double>(i + 2); };
    at_least checks(48, what);
    const auto expect = [&](std::uint64_t count, double p, const std::string& where) {
        bernoulli there(100'000, what + ", symbol " + where);
        there.add(count, elements.size(), p);
        there.expect(5, 1e-9);
        ++checks;
    };
    for (const std::uint64_t i : watched) {
        expect(in[i], share(i), std::to_string(i));
        for (const std::uint64_t j : watched) {
            if (i < j && j <= 31)
                expect(in_both[{i, j}], share(i) * share(j), std::to_string(i) + " and " + std::to_string(j));
        }
    }
}

TEST(reconcile_symbol_places, have_the_density_for_random_and_for_regular_digests) {
    std::mt19937_64 random(2);
    expect_density(random_digests(100'000, random), "random");
    std::vector<digest> counter, high_counter, bits;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        counter.push_back({i, 0});
        high_counter.push_back({0, i});
        bits.push_back({i << 47, 0});
    }
    expect_density(counter, "counter");
    expect_density(high_counter, "counter in the high half");
    expect_density(bits, "high bits only");
}

// The order of the indices is the format: it must never change, on any machine.
TEST(reconcile_symbol_places, golden_indices) {
    const auto first = [](const digest& element, std::size_t count) {
        std::vector<std::uint64_t> indices;
        for (symbol_places places(element); indices.size() < count; places.advance())
            indices.push_back(places.index());
        return indices;
    };
    EXPECT_EQ(first({0, 0}, 12),
              (std::vector<std::uint64_t>{0, 1, 5, 6, 13, 14, 78, 113, 118, 119, 276, 288}));
    EXPECT_EQ(first({0x0123456789abcdef, 0xfedcba9876543210}, 12),
              (std::vector<std::uint64_t>{0, 1, 2, 5, 6, 10, 31, 45, 73, 108, 124, 141}));
}

TEST(reconcile_symbol_places, end_beyond_the_last_symbol) {
    std::mt19937_64 random(3);
    for (const digest& element : random_digests(100, random)) {
        symbol_places places(element);
        int steps = 0;
        for (std::uint64_t before = 0; places.index() < max_symbols; before = places.index(), ++steps) {
            places.advance();
            ASSERT_GT(places.index(), before);
        }
        EXPECT_EQ(places.index(), max_symbols);
        EXPECT_LT(steps, 200);  // 2 ln 2^31 = 43 on average
    }
}

// An encoder in runs of any length says what the definition says.
TEST(reconcile_symbol_encoder, is_the_sum_of_its_elements) {
    std::mt19937_64 random(4);
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        const auto set = make_sets(1500, 0, 0, width).a;
        std::vector<coded_symbol> model(700);
        for (const digest& element : set.elements()) {
            const digest_set one(set.hash(), width, {element});
            const auto alone = symbol_encoder(one).next(model.size()).symbols;
            for (symbol_places places(element); places.index() < model.size(); places.advance()) {
                coded_symbol& s = model[places.index()];
                const coded_symbol& a = alone[places.index()];
                EXPECT_EQ(a.sum, element);
                EXPECT_EQ(a.count, 1);
                s.sum = {s.sum.low ^ a.sum.low, s.sum.high ^ a.sum.high};
                s.check ^= a.check;
                s.count = static_cast<std::uint8_t>(s.count + 1);
            }
        }
        symbol_encoder encoder(set);
        std::vector<coded_symbol> got;
        while (got.size() < model.size()) {
            const auto run = encoder.next(std::min<std::size_t>(random() % 90, model.size() - got.size()));
            EXPECT_EQ(run.first, got.size());
            EXPECT_EQ(run.items, set.size());
            got.insert(got.end(), run.symbols.begin(), run.symbols.end());
        }
        EXPECT_EQ(got, model);
    }
}

TEST(reconcile_symbol_run, comes_back_as_it_went) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const std::size_t size : {0u, 1u, 300u}) {
            const auto set = make_sets(size, 0, 0, width).a;
            symbol_encoder encoder(set);
            for (const std::size_t number : {0u, 1u, 17u}) {
                const auto run = encoder.next(number);
                const auto bytes = payload_of(run);
                EXPECT_LE(bytes.size(), 6 + number * symbol_bytes(width));
                const auto back = symbol_run::parse(hasher(), bytes);
                ASSERT_TRUE(back) << back.error().text();
                EXPECT_EQ(back->symbols, run.symbols);
                EXPECT_EQ(back->items, size);
                EXPECT_EQ(back->first, run.first);
                EXPECT_EQ(back->width, width);
                expect_cuts_are_refused<symbol_run>(bytes);
            }
        }
    }
}

TEST(reconcile_symbol_run, golden_bytes) {
    const digest_set set(hasher(), digest_width::half, {{1, 0}, {2, 0}, {0x0102030405060708, 0}});
    symbol_encoder encoder(set);
    EXPECT_EQ(hex(payload_of(encoder.next(3))),
              "080300030b07060504030201a34b3d1403080706050403020171d9725501020000000000000002f213a201");
    const digest_set full(hasher(), digest_width::full, {{1, 0x1112131415161718}});
    symbol_encoder wide(full);
    wide.next(1);
    EXPECT_EQ(hex(payload_of(wide.next(2))),
              "1001010201000000000000001817161514131211f02a6cc301000000000000000000000000000000000000000000");
}

TEST(reconcile_symbol_run, wrong_payloads_say_what_and_where) {
    expect_refused<symbol_run>("0900", 0, "digests of 9 bytes");
    expect_refused<symbol_run>("08808080808080808040", 1, "2^62 items");
    expect_refused<symbol_run>("080181808080100000", 2, "beyond the last one");
    expect_refused<symbol_run>("08010005", 3, "5 entries in the 0 bytes");
    expect_refused<symbol_run>(
        "0801808080801001"
        "0000000000000000"
        "00000000"
        "00",
        7, "beyond the last one");
    const auto set = make_sets(10, 0, 0).a;
    const auto limited = symbol_run::parse(hasher(), payload_of(symbol_encoder(set).next(100)),
                                           read_limits{.max_bytes = 2399});
    ASSERT_FALSE(limited);
    EXPECT_NE(limited.error().message.find("above the limit"), std::string::npos);
}

}  // namespace
}  // namespace posy::reconcile
