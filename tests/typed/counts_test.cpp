// typed::counts<Key> is a count_min of the keys' digests, counter for counter.
#include "posy/typed/counts.hpp"

#include <random>

#include "checked.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy::typed {
namespace {

template <class Key>
class typed_counts : public testing::Test {};
TYPED_TEST_SUITE(typed_counts, kinds_of_keys);

TYPED_TEST(typed_counts, are_the_untyped_ones) {
    for (const hasher& hash : {hasher(hash_family::fold64), hash::secret_hasher()}) {
        for (const update_rule rule : members<update_rule>) {
            counts<TypeParam> seen(0.01, 0.01, rule, hash);
            checked twin(*count_min::with_guarantee(hash, 0.01, 0.01, rule, counter_width::bits_64));
            const auto all = keys_of<TypeParam>(0, 2500);
            const auto digests = digests_of_all(hash, all);
            std::mt19937_64 random(1);
            for (int step = 0; step < 1000; ++step) {
                const std::size_t i = random() % all.size();
                const std::uint64_t weight = random() % 5 << random() % 40;
                ASSERT_EQ(seen.add(all[i], weight), twin.add(digests[i], weight));
                ASSERT_EQ(seen.add(all[i]), twin.add(digests[i]));
            }
            seen.add(all);
            twin.add(digests);
            EXPECT_EQ(seen.untyped(), *twin);
            EXPECT_EQ(seen.total(), twin->total());
            EXPECT_EQ(seen.error_bound(), twin->error_bound());
            answers_for<std::uint64_t> estimates(all.size());
            seen.estimate(all, estimates.span);
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(estimates.span[i], seen.estimate(all[i])) << i;
                ASSERT_EQ(estimates.span[i], twin.estimate(digests[i])) << i;
            }
        }
    }
}

TEST(typed_count_sketches, can_be_used_after_a_move) {
    counts<int> first(0.01, 0.01);
    first.add(1, 5);
    counts<int> second(std::move(first));
    EXPECT_EQ(second.estimate(1), 5u);
    EXPECT_EQ(first.estimate(1), 0u);
    EXPECT_EQ(first.total(), 0u);
    EXPECT_EQ(first.untyped().width(), second.untyped().width());
    EXPECT_EQ(first.untyped().rule(), update_rule::conservative);
    EXPECT_EQ(first.add(2), 1u);
    second = std::move(first);
    EXPECT_EQ(second.estimate(2), 1u);
    second.clear();
    EXPECT_EQ(second.total(), 0u);
}

TEST(typed_count_sketches, have_files) {
    counts<int> seen(0.01, 0.01);
    seen.add(keys_of<int>(0, 500));
    expect_files(seen, *bloom_filter::make({512, 8}));
}

TEST(typed_count_sketches, have_the_fastest_hash_that_is_good_enough) {
    EXPECT_EQ((counts<int>(0.01, 0.01)).untyped().hash().family(), hash_family::fold64);
    EXPECT_EQ((counts<int>(0.01, 1e-9)).untyped().hash().family(), hash_family::xxh3);
}

TEST(typed_count_sketches, say_what_is_impossible) {
    EXPECT_THROW((counts<int>(0, 0.01)), exception);
    EXPECT_THROW((counts<int>(0.01, 0)), exception);
    EXPECT_THROW((counts<int>(1e-12, 0.01)), exception);
    EXPECT_THROW((counts<int>(0.01, 0.01, update_rule::plain, hasher(hash_family::xxh3, {0, 1}))), exception);
    EXPECT_FALSE(counts<int>::make(-1, 0.01));
}

}  // namespace
}  // namespace posy::typed
