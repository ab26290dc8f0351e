// typed::growing<Key> is a growing_filter of the keys' digests, array for array.
#include "posy/typed/growing.hpp"

#include "checked.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy::typed {
namespace {

// A small first array, so that it grows.
growing_filter::options small(const hasher& hash = hasher(hash_family::fold64)) {
    return {.rate = 0.01, .hash = hash, .first_bytes = 1 << 13};
}

template <class Key>
class typed_growing : public testing::Test {};
TYPED_TEST_SUITE(typed_growing, kinds_of_keys);

TYPED_TEST(typed_growing, is_the_untyped_one) {
    for (const hasher& hash : {hasher(hash_family::fold64), hash::secret_hasher()}) {
        growing<TypeParam> set(*growing_filter::make(small(hash)));
        checked twin(*growing_filter::make(small(hash)));
        const auto all = keys_of<TypeParam>(0, 8000);
        const auto digests = digests_of_all(hash, all);
        for (std::size_t i = 0; i < 500; ++i) {
            set.insert(all[i]);
            ASSERT_TRUE(twin.insert(digests[i]));
        }
        // A batch is 2048 keys, and arrays grow between batches.
        set.insert(std::span(all).subspan(500));
        for (std::size_t i = 500; i < all.size(); i += keys::batch_size)
            ASSERT_TRUE(twin.insert(
                std::span<const digest>(digests).subspan(i, std::min(keys::batch_size, all.size() - i))));
        EXPECT_GT(set.untyped().arrays().size(), 1u);
        EXPECT_EQ(set.items(), all.size());
        EXPECT_EQ(to_bytes(set.untyped()), to_bytes(*twin));

        set.shrink();
        ASSERT_TRUE(twin.shrink());
        EXPECT_EQ(to_bytes(set.untyped()), to_bytes(*twin));
        const auto asked = keys_of<TypeParam>(7000, 11'000);
        answers_for answers(asked.size());
        const std::size_t yes = set.may_contain(asked, answers.span);
        EXPECT_EQ(yes, static_cast<std::size_t>(std::ranges::count(answers.span, true)));
        for (std::size_t i = 0; i < asked.size(); ++i)
            ASSERT_EQ(answers.span[i], set.may_contain(asked[i])) << i;
        EXPECT_GE(yes, 1000u);
        EXPECT_LE(set.false_positive_rate(), 0.0101);
    }
}

TEST(typed_growing_filters, take_nothing_after_shrink) {
    growing<int> set(*growing_filter::make(small()));
    set.insert(keys_of<int>(0, 100));
    set.shrink();
    EXPECT_TRUE(set.shrunk());
    const auto before = to_bytes(set.untyped());
    EXPECT_THROW(set.insert(1), exception);
    EXPECT_THROW(set.insert(keys_of<int>(0, 5000)), exception);
    EXPECT_EQ(to_bytes(set.untyped()), before);
}

TEST(typed_growing_filters, can_be_used_after_a_move) {
    growing<int> first(*growing_filter::make(small()));
    first.insert(1);
    growing<int> second(std::move(first));
    EXPECT_TRUE(second.may_contain(1));
    EXPECT_FALSE(first.may_contain(1));
    EXPECT_EQ(first.items(), 0u);
    EXPECT_EQ(first.bytes(), second.bytes());
    first.insert(2);
    second = std::move(first);
    EXPECT_TRUE(second.may_contain(2));
    second.shrink();
    const growing<int> third(std::move(second));
    EXPECT_FALSE(second.shrunk());
    second.insert(3);
    EXPECT_TRUE(second.may_contain(3));
}

TEST(typed_growing_filters, are_made_by_rate) {
    growing<std::string> usual(0.01);
    usual.insert("a");
    EXPECT_TRUE(usual.may_contain("a"));
    EXPECT_EQ(usual.untyped().promised_rate(), 0.01);
    EXPECT_EQ(usual.untyped().hash().family(), hash_family::fold64);
    EXPECT_EQ(growing<int>(1e-6).untyped().hash().family(), hash_family::xxh3);
    EXPECT_EQ((growing<int>(0.01, hash::secret_hasher())).untyped().hash(), hash::secret_hasher());
    EXPECT_THROW(growing<int>(0), exception);
    EXPECT_THROW(growing<int>(1.5), exception);
    EXPECT_THROW(growing<int>(0.01, hasher(hash_family::fold64, {0, 1})), exception);
    EXPECT_FALSE(growing<int>::make(-1));
}

TEST(typed_growing_filters, have_files) {
    growing<int> set(*growing_filter::make(small()));
    set.insert(keys_of<int>(0, 3000));
    expect_files(set, set.untyped().arrays().front());
}

}  // namespace
}  // namespace posy::typed
