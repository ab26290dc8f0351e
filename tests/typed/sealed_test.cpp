// typed::sealed<Key> is the sealed_filter of the keys' digests, byte for byte.
#include "posy/typed/sealed.hpp"

#include <sstream>

#include "checked.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy::typed {
namespace {

template <class Key>
class typed_sealed : public testing::Test {};
TYPED_TEST_SUITE(typed_sealed, kinds_of_keys);

TYPED_TEST(typed_sealed, is_the_untyped_one) {
    for (const hasher& hash : {hasher(hash_family::fold64), hash::secret_hasher()}) {
        const auto all = keys_of<TypeParam>(0, 5000), asked = keys_of<TypeParam>(4000, 9000);
        const sealed<TypeParam> set(all, 0.01, hash);
        const auto digests = digests_of_all(hash, all), asked_digests = digests_of_all(hash, asked);
        const checked twin(*sealed_filter::make(hash, digests, {.rate = 0.01}), digests);
        EXPECT_EQ(to_bytes(set.untyped()), to_bytes(*twin));
        EXPECT_EQ(set.items(), 5000u);
        answers_for answers(asked.size());
        const std::size_t yes = set.may_contain(asked, answers.span);
        EXPECT_EQ(yes, static_cast<std::size_t>(std::ranges::count(answers.span, true)));
        // 40 of the 4000 others are expected; eight standard deviations more never come by chance.
        EXPECT_GE(yes, 1000u);
        EXPECT_LE(yes, 1090u);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            ASSERT_EQ(answers.span[i], set.may_contain(asked[i])) << i;
            ASSERT_EQ(answers.span[i], twin.may_contain(asked_digests[i])) << i;
        }
    }
}

TEST(typed_sealed_filters, take_any_range) {
    const auto all = keys_of<std::string>(0, 3000);
    const sealed<std::string> expected(all, 0.01);
    const sealed<std::string> repeated(keys_of<const char*>(0, 3000), 0.01);
    EXPECT_EQ(to_bytes(repeated.untyped()), to_bytes(expected.untyped()));
    auto made = std::views::iota(0, 3000) | std::views::transform([](int i) {
                    return key_number<std::string>(static_cast<std::uint64_t>(i));
                });
    EXPECT_EQ(to_bytes(sealed<std::string>(made, 0.01).untyped()), to_bytes(expected.untyped()));
    std::istringstream stream("a b c a b c");
    const sealed<std::string> words(std::ranges::istream_view<std::string>(stream), 0.01);
    EXPECT_EQ(words.items(), 3u);
    for (const char* word : {"a", "b", "c"}) EXPECT_TRUE(words.may_contain(word));
}

TEST(typed_sealed_filters, are_small) {
    const sealed<std::uint64_t> set(keys_of<std::uint64_t>(0, 50'000), 1.0 / 256);
    EXPECT_GT(set.bits_per_key(), 8);
    EXPECT_LT(set.bits_per_key(), 8.2);
    EXPECT_NEAR(set.false_positive_rate(), 1.0 / 256, 1e-4);
}

TEST(typed_sealed_filters, are_copied_and_are_empty_after_a_move) {
    sealed<int> first(keys_of<int>(0, 1000), 0.01);
    const sealed<int> copy(first);
    sealed<int> second(std::move(first));
    for (const int key : keys_of<int>(0, 1000)) {
        ASSERT_TRUE(second.may_contain(key));
        ASSERT_TRUE(copy.may_contain(key));
        ASSERT_FALSE(first.may_contain(key));
    }
    EXPECT_EQ(copy.untyped().bytes().data(), second.untyped().bytes().data());
    EXPECT_EQ(first.items(), 0u);
    EXPECT_EQ(first.bits_per_key(), 0);
    answers_for answers(1000);
    EXPECT_EQ(first.may_contain(keys_of<int>(0, 1000), answers.span), 0u);
    first = second;
    EXPECT_EQ(first.items(), 1000u);
    const sealed<int> none(std::vector<int>(), 0.01);
    EXPECT_FALSE(none.may_contain(1));
}

TEST(typed_sealed_filters, have_files) {
    const sealed<int> set(keys_of<int>(0, 1000), 0.01);
    expect_files(set, *bloom_filter::make({512, 8}));
}

TEST(typed_sealed_filters, have_the_fastest_hash_that_is_good_enough) {
    const auto keys = keys_of<int>(0, 10);
    const auto family = [&](double rate) { return sealed<int>(keys, rate).untyped().hash().family(); };
    EXPECT_EQ(family(0.01), hash_family::fold64);
    EXPECT_EQ(family(1e-9), hash_family::fold64);
    // How many keys a range has that is read only once is not known beforehand.
    std::istringstream stream("1 2 3");
    EXPECT_EQ(sealed<int>(std::ranges::istream_view<int>(stream), 1e-6).untyped().hash().family(),
              hash_family::xxh3);
}

TEST(typed_sealed_filters, say_what_is_impossible) {
    const auto keys = keys_of<int>(0, 10);
    for (const double rate : {0.0, 1.0, 1e-12, 2.0, -1.0}) {
        EXPECT_THROW((sealed<int>(keys, rate)), exception) << rate;
        EXPECT_FALSE((sealed<int>::make(keys, rate))) << rate;
    }
    EXPECT_THROW((sealed<int>(keys, 0.01, hasher(hash_family::xxh3, {0, 1}))), exception);
}

}  // namespace
}  // namespace posy::typed
