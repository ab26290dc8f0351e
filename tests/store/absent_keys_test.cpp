#include "posy/store/absent_keys.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>

#include "statistics.hpp"
#include "typed/keys.hpp"

namespace posy::store {
namespace {

template <class Key>
struct AbsentKeys : testing::Test {};
using kinds = testing::Types<std::string, std::uint64_t, std::pair<std::string, int>, std::vector<std::byte>>;
TYPED_TEST_SUITE(AbsentKeys, kinds);

TYPED_TEST(AbsentKeys, KnowsOnlyWhatWasInsertedAndNotErasedSince) {
    std::mt19937_64 random(3);
    absent_keys<TypeParam> cache(64);
    EXPECT_EQ(cache.room(), 64);
    std::unordered_set<std::uint64_t> truth;
    at_least known(1'000);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t number = random() % 200;
        const auto key = key_number<TypeParam>(number);
        switch (random() % 3) {
            case 0:
                cache.insert(key);
                truth.insert(number);
                EXPECT_TRUE(cache.contains(key));
                break;
            case 1:
                cache.erase(key);
                truth.erase(number);
                EXPECT_FALSE(cache.contains(key));
                break;
            default:
                if (!cache.contains(key)) break;
                EXPECT_TRUE(truth.contains(number));
                ++known;
        }
    }
}

TEST(AbsentKeysOfOneSet, KeepsWhatIsAskedFor) {
    absent_keys<int> cache(1);
    EXPECT_EQ(cache.room(), 4);
    for (int i = 0; i < 1'000; ++i) {
        cache.insert(i);
        cache.insert(-1);
        cache.insert(-1);  // once
    }
    for (const int key : {999, 998, 997, -1}) EXPECT_TRUE(cache.contains(key)) << key;
    EXPECT_FALSE(cache.contains(996));
}

TEST(AbsentKeysOfOneSet, WithoutRoomLearnsNothing) {
    absent_keys<int> cache(0);
    cache.insert(1);
    cache.erase(1);
    EXPECT_FALSE(cache.contains(1));
}

}  // namespace
}  // namespace posy::store
