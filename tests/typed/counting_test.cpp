// typed::counting<Key> is a counting_filter of the keys' digests, counter for counter.
#include "posy/typed/counting.hpp"

#include <random>

#include "checked.hpp"
#include "posy/plan.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy::typed {
namespace {

checked<counting_filter> twin_of(const counting_filter& f) {
    return checked<counting_filter>(*blank<counting_filter>::of(f).make());
}

// A random history over a few hundred keys, by single calls and by batches.
template <class Key>
void expect_equal_to_untyped(counting<Key> set) {
    auto twin = twin_of(set);
    const auto all = keys_of<Key>(0, 600);
    const auto digests = digests_of_all(set.untyped().hash(), all);
    std::mt19937_64 random(1);
    std::vector<int> times(all.size());
    for (int step = 0; step < 3000; ++step) {
        const std::size_t i = random() % all.size();
        if (random() % 2 == 0) {
            set.insert(all[i]);
            twin.insert(digests[i]);
            ++times[i];
        } else if (times[i] > 0 || !set.may_contain(all[i])) {
            const bool removed = set.remove(all[i]);
            ASSERT_EQ(removed, twin.remove(digests[i]));
            ASSERT_EQ(removed, times[i] > 0);
            times[i] -= removed;
        }
    }
    set.insert(all);
    twin.insert(digests);
    answers_for removed(300), expected(300);
    EXPECT_EQ(set.remove(std::span(all).first(300), removed.span), 300u);
    twin.remove(std::span<const digest>(digests).first(300), expected.span);
    EXPECT_EQ(to_bytes(set.untyped()), to_bytes(*twin));
    EXPECT_EQ(set.items(), twin->items());

    const auto asked = keys_of<Key>(0, 5000);
    answers_for answers(asked.size());
    const std::size_t yes = set.may_contain(asked, answers.span);
    EXPECT_EQ(yes, static_cast<std::size_t>(std::ranges::count(answers.span, true)));
    for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(answers.span[i], set.may_contain(asked[i])) << i;
}

template <class Key>
class typed_counting : public testing::Test {};
TYPED_TEST_SUITE(typed_counting, kinds_of_keys);

TYPED_TEST(typed_counting, is_the_untyped_one) {
    expect_equal_to_untyped(counting<TypeParam>(2000, 0.001));
    expect_equal_to_untyped(counting<TypeParam>(2000, 0.001, hash::secret_hasher()));
}

TYPED_TEST(typed_counting, refuses_to_remove_what_is_absent) {
    counting<TypeParam> set(1000, 1e-6);
    const auto present = keys_of<TypeParam>(0, 100), absent = keys_of<TypeParam>(100, 200);
    set.insert(present);
    const auto before = to_bytes(set.untyped());
    answers_for removed(absent.size());
    EXPECT_EQ(set.remove(absent, removed.span), 0u);
    for (const auto& key : absent) EXPECT_FALSE(set.remove(key));
    EXPECT_EQ(to_bytes(set.untyped()), before);
    for (const auto& key : present) EXPECT_TRUE(set.remove(key));
    EXPECT_EQ(set.items(), 0u);
    EXPECT_EQ(set.untyped().projection().ones(), 0u);
}

TEST(typed_counting_filters, are_planned_for_speed) {
    for (const double rate : {0.1, 0.01, 0.001}) {
        const counting<int> fast(100'000, rate);
        EXPECT_EQ(fast.untyped().geometry().layout, layout_id::narrow) << rate;
        EXPECT_EQ(fast.untyped().counters().width(), 4u);
        EXPECT_LE(fast.untyped().provenance().planned->rate, rate);
    }
    // A cache line of counters is too narrow for low rates.
    EXPECT_EQ((counting<int>(100'000, 1e-5)).untyped().geometry().layout, layout_id::blocked);
    EXPECT_LE((counting<int>(1000, 1e-9)).untyped().provenance().planned->rate, 1e-9);
    // And 4 bits are too few for an array so full that counters would stick.
    EXPECT_EQ((counting<int>(100'000, 0.999)).untyped().counters().width(), 8u);
}

TEST(typed_counting_filters, can_be_used_after_a_move) {
    counting<int> first(1000, 0.01);
    first.insert(1);
    counting<int> second(std::move(first));
    EXPECT_TRUE(second.may_contain(1));
    EXPECT_FALSE(first.may_contain(1));
    EXPECT_FALSE(first.remove(1));
    EXPECT_EQ(first.untyped().geometry(), second.untyped().geometry());
    EXPECT_EQ(first.untyped().provenance().planned, second.untyped().provenance().planned);
    first.insert(2);
    second = std::move(first);
    EXPECT_TRUE(second.may_contain(2));
    EXPECT_EQ(first.items(), 0u);
    second.clear();
    EXPECT_EQ(second.items(), 0u);
}

TEST(typed_counting_filters, have_files) {
    counting<int> set(1000, 0.01);
    set.insert(keys_of<int>(0, 500));
    expect_files(set, set.untyped().projection());
}

TEST(typed_counting_filters, say_what_is_impossible) {
    EXPECT_THROW(counting<int>(1000, 0), exception);
    EXPECT_THROW(counting<int>(1000, 2), exception);
    EXPECT_THROW(counting<int>(0, 0.01), exception);
    EXPECT_THROW(counting<int>(1000, 0.01, hasher(hash_family::xxh3, {0, 1})), exception);
    EXPECT_FALSE(counting<int>::make(~std::uint64_t{0}, 0.01));
}

}  // namespace
}  // namespace posy::typed
