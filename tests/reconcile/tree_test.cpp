#include "reconcile/tree.hpp"

#include <cmath>
#include <cstdlib>

#include "base/varint.hpp"
#include "reconcile/theory.hpp"
#include "sets.hpp"
#include "statistics.hpp"

namespace posy::reconcile {
namespace {

reconciliation_tree tree_of(const digest_set& set, double bits_per_item = 10, unsigned corrections = 1,
                            unsigned grain = 8) {
    return *reconciliation_tree::make(set, *plan_tree(set.size(), bits_per_item, corrections, grain));
}

// A tree may overlook an element, but never reports one that the other set has.
TEST(reconcile_tree, finds_only_what_the_other_set_lacks) {
    const struct {
        std::size_t common, a, b;
    } shapes[] = {{0, 0, 0},    {0, 0, 1},   {0, 1, 0},     {1, 0, 0},       {0, 0, 300},  {0, 300, 0},
                  {0, 200, 90}, {1, 1, 1},   {7, 0, 1},     {2000, 0, 0},    {2000, 1, 0}, {2000, 0, 1},
                  {2000, 9, 9}, {8, 30, 30}, {2000, 0, 90}, {2000, 500, 500}};
    std::uint64_t seed = 0;
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const auto& [common, a, b] : shapes) {
            for (const unsigned grain : {2u, 8u, 64u}) {
                for (const unsigned corrections : {0u, 2u}) {
                    const auto sets = make_sets(common, a, b, width, ++seed);
                    // At 60 bits per item nothing is overlooked: rates are below 10^-6.
                    for (const double bits : {1.0, 60.0}) {
                        const auto found = tree_of(sets.a, bits, corrections, grain).search(sets.b)->found;
                        EXPECT_TRUE(std::ranges::includes(sets.only_b, found, ascending{}));
                        if (bits > 50) {
                            EXPECT_EQ(found, sets.only_b) << common << "+" << a << "+" << b;
                        }
                    }
                }
            }
        }
    }
}

// Digests with a long common prefix make a deep trie: slower, but right.
TEST(reconcile_tree, takes_digests_that_are_not_random) {
    std::vector<digest> a, b;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        a.push_back({7, i});
        b.push_back({7, i + 40});
    }
    const digest_set mine(hasher(), digest_width::full, a), theirs(hasher(), digest_width::full, b);
    EXPECT_EQ(tree_of(mine, 60).search(theirs)->found, without(theirs.elements(), mine.elements()));
}

// The share found over many pairs of sets with different digests, against theory. One mistake near the root
// hides much, so shares vary more than a binomial: the tolerance is taken from their own spread, in standard
// errors.
void expect_share(std::size_t items, std::size_t lacking, double bits, unsigned corrections, unsigned grain,
                  int trees = 60, double errors = 5.2) {
    sample shares(static_cast<unsigned>(trees), "bits " + std::to_string(bits) + ", corrections " +
                                                    std::to_string(corrections) + ", grain " +
                                                    std::to_string(grain));
    double expected = 0;
    for (int t = 0; t < trees; ++t) {
        const auto sets = make_sets(items - lacking, lacking, lacking, digest_width::half,
                                    static_cast<std::uint64_t>(t) + 1000 * corrections + grain);
        const auto tree = tree_of(sets.a, bits, corrections, grain);
        shares.add(static_cast<double>(tree.search(sets.b)->found.size()) / static_cast<double>(lacking));
        expected = tree.expected_found(sets.b.size());
    }
    shares.expect_mean(expected, errors, 1e-4);
    EXPECT_LT(shares.standard_error(), 0.04);
}

// 5.2 standard errors of 60 trees (Student's t): a false alarm in 3·10^5 per row.
TEST(reconcile_tree, finds_the_share_that_theory_expects) {
    for (const double bits : {4.0, 8.0}) {
        for (const unsigned corrections : {0u, 1u, 3u}) {
            for (const unsigned grain : {2u, 8u}) expect_share(5000, 250, bits, corrections, grain);
        }
    }
    expect_share(5000, 250, 8, 5, 2);
    expect_share(100, 20, 6, 1, 8);
}

// The plan is the truth: at 10 bits per item, with the paper's tree and with ours.
TEST(reconcile_tree, plans_say_what_trees_do) {
    const auto sets = make_sets(100'000, 0, 0);
    for (const unsigned grain : {2u, 8u}) {
        const auto shape = *plan_tree(sets.a.size(), 10, 1, grain);
        EXPECT_EQ(shape.node_bits + shape.leaf_bits, 1'000'000u);
        const auto tree = *reconciliation_tree::make(sets.a, shape);
        const double nodes = theory::tree_nodes(100'000, grain);
        // The number of such nodes varies by less than 0.3 √n.
        EXPECT_NEAR(static_cast<double>(*tree.nodes().items()), nodes, grain == 2 ? 0.5 : 4.5 * 0.3 * 317);
        EXPECT_EQ(*tree.leaves().items(), 100'000u);
        EXPECT_NEAR(tree.expected_found(100'000), grain == 2 ? 0.820 : 0.978, 0.002);
    }
}

// 100 differences among 10^5: under a twentieth of the elements and nodes is looked up.
TEST(reconcile_tree, looks_at_few_elements) {
    const auto sets = make_sets(100'000, 50, 50);
    const auto search = *tree_of(sets.a).search(sets.b);
    EXPECT_LT(search.elements + search.nodes, 100'000u / 20);
    EXPECT_GT(search.elements, search.found.size());
    const auto equal = *tree_of(sets.a).search(sets.a);
    EXPECT_LE(equal.nodes, 3u);  // the root and its children agree: that is enough for one correction
    EXPECT_EQ(equal.elements, 0u);
}

TEST(reconcile_tree, comes_back_as_it_went) {
    for (const digest_width width : {digest_width::half, digest_width::full}) {
        for (const std::size_t size : {0u, 1u, 100u}) {
            const auto sets = make_sets(size, 0, 40, width);
            const auto tree = tree_of(sets.a, 12, 2, 4);
            const auto bytes = payload_of(tree);
            const auto back = reconciliation_tree::parse(hasher(), bytes);
            ASSERT_TRUE(back) << back.error().text();
            EXPECT_EQ(back->nodes(), tree.nodes());
            EXPECT_EQ(back->leaves(), tree.leaves());
            EXPECT_EQ(back->items(), size);
            EXPECT_EQ(back->corrections(), 2u);
            EXPECT_EQ(back->grain(), 4u);
            EXPECT_EQ(back->search(sets.b)->found, tree.search(sets.b)->found);
            expect_cuts_are_refused<reconciliation_tree>(bytes);
        }
    }
}

TEST(reconcile_tree, golden_bytes) {
    const digest_set set(hasher(), digest_width::half, {{1, 0}, {2, 0}, {0x0102030405060708, 0}});
    const auto tree = *reconciliation_tree::make(set, {1, 2, 64, 64, 3, 4});
    EXPECT_EQ(hex(payload_of(tree)),
              "0801021c504f5359010102130101034000000400000005050c2e2733084801591d504f5359010102130101044000"
              "00050000000608ff283720b120cac2ee");
}

TEST(reconcile_tree, wrong_payloads_say_what_and_where) {
    expect_refused<reconciliation_tree>("05", 0, "digests of 5 bytes");
    expect_refused<reconciliation_tree>("0810", 1, "more than 15 corrections");
    expect_refused<reconciliation_tree>("080101", 2, "a grain that is not 2 to 64");
    expect_refused<reconciliation_tree>("080141", 2, "a grain that is not 2 to 64");
    expect_refused<reconciliation_tree>(
        "080108"
        "04"
        "01020304",
        4, "not a Posy message");
    const auto bytes = payload_of(tree_of(make_sets(1000, 0, 0).a));
    EXPECT_FALSE(reconciliation_tree::parse(hasher(hash_family::xxh3, {1, 0}), bytes));
    const auto limited = reconciliation_tree::parse(hasher(), bytes, read_limits{.max_bytes = 1000});
    ASSERT_FALSE(limited);
    EXPECT_NE(limited.error().message.find("above the limit"), std::string::npos);
    // A filter that is not spread, where one is due.
    auto blocked = *bloom_filter::make({512, 3, layout_id::blocked});
    const auto message = to_bytes(blocked);
    std::vector<std::byte> wrong = unhex("080108");
    base::put_varint(wrong, message.size());
    wrong.insert(wrong.end(), message.begin(), message.end());
    EXPECT_EQ(reconciliation_tree::parse(hasher(), wrong).error().offset, 5u);
}

TEST(reconcile_tree, impossible_shapes_and_other_hashes_are_refused) {
    EXPECT_FALSE(plan_tree(10, 10, 16));
    EXPECT_FALSE(plan_tree(10, 10, 1, 1));
    EXPECT_FALSE(plan_tree(10, 10, 1, 65));
    EXPECT_FALSE(plan_tree(10, 0));
    EXPECT_FALSE(plan_tree(10, std::nan("")));
    EXPECT_FALSE(plan_tree(std::uint64_t{1} << 40, 10));
    const auto sets = make_sets(10, 0, 0);
    EXPECT_FALSE(reconciliation_tree::make(sets.a, {1, 8, 0, 64, 1, 1}));
    EXPECT_FALSE(reconciliation_tree::make(sets.a, {1, 1, 64, 64, 1, 1}));
    const auto other = make_sets(10, 0, 0, digest_width::half, 1, hasher(hash_family::siphash, {1, 2}));
    EXPECT_NE(tree_of(sets.a).search(other.a).error().message.find("same hash and seed"), std::string::npos);
    const auto wide = make_sets(10, 0, 0, digest_width::full);
    EXPECT_NE(tree_of(sets.a).search(wide.a).error().message.find("same width"), std::string::npos);
}

// A million elements, 500 of them lacking, 20 trees per row: 6.5 standard errors (Student's t: 3·10^5 again).
// A few minutes: POSY_LONG_TESTS=1 ctest -R reconcile/tree
TEST(reconcile_tree, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    for (const unsigned corrections : {0u, 1u, 2u}) {
        for (const unsigned grain : {2u, 8u, 16u})
            expect_share(1'000'000, 500, 10, corrections, grain, 20, 6.5);
    }
    const auto sets = make_sets(1'000'000, 500, 500);
    const auto search = *tree_of(sets.a).search(sets.b);
    EXPECT_LT(search.elements + search.nodes, 1'000'000u / 20);
}

}  // namespace
}  // namespace posy::reconcile
