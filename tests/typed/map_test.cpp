// typed::map<Key, Value> is the bloomier_map of the keys' digests, byte for byte.
#include "posy/typed/map.hpp"

#include <limits>
#include <map>
#include <unordered_map>

#include "checked.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy::typed {
namespace {

template <class Key, class Value>
std::vector<std::pair<Key, Value>> pairs_of(std::uint64_t first, std::uint64_t last, std::uint64_t values) {
    std::vector<std::pair<Key, Value>> pairs;
    for (std::uint64_t i = first; i < last; ++i)
        pairs.emplace_back(key_number<Key>(i), static_cast<Value>(i * i % values));
    return pairs;
}

template <class Key>
class typed_map : public testing::Test {};
TYPED_TEST_SUITE(typed_map, kinds_of_keys);

TYPED_TEST(typed_map, is_the_untyped_one) {
    for (const hasher& hash : {hasher(), hash::secret_hasher()}) {
        const auto pairs = pairs_of<TypeParam, unsigned>(0, 3000, 900);
        const map<TypeParam, unsigned> values(pairs, 0.01, hash);
        const auto all = keys_of<TypeParam>(0, 3000), asked = keys_of<TypeParam>(2000, 6000);
        std::vector<std::uint64_t> numbers;
        for (const auto& pair : pairs) numbers.push_back(pair.second);
        const auto digests = digests_of_all(hash, all), asked_digests = digests_of_all(hash, asked);
        const checked twin(*bloomier_map::make(hash, digests, numbers, {.value_bits = 10, .rate = 0.01}),
                           digests, numbers);
        EXPECT_EQ(to_bytes(values.untyped()), to_bytes(*twin));
        EXPECT_EQ(values.items(), 3000u);

        answers_for<std::optional<unsigned>> answers(asked.size());
        const std::size_t found = values.find(asked, answers.span);
        // 30 of the 3000 others are expected; nine standard deviations more never come by chance.
        EXPECT_LE(found, 1080u);
        std::size_t there = 0;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            there += answers.span[i].has_value();
            ASSERT_EQ(answers.span[i], values.find(asked[i])) << i;
            ASSERT_EQ(answers.span[i], twin.find(asked_digests[i])) << i;
            if (i < 1000) {
                ASSERT_EQ(answers.span[i], pairs[2000 + i].second) << i;
            }
        }
        EXPECT_EQ(found, there);
    }
}

template <class Value>
unsigned width_of(std::initializer_list<Value> list) {
    std::vector<std::pair<int, Value>> pairs;
    for (const Value value : list) pairs.emplace_back(static_cast<int>(pairs.size()), value);
    const map<int, Value> values(pairs, 0.01);
    for (const auto& [key, value] : pairs) EXPECT_EQ(values.find(key), value);
    return values.untyped().value_bits();
}
TEST(typed_maps, take_the_bits_that_the_values_need) {
    enum class size : std::int8_t { small = 1, large = 5, unknown = -1 };
    EXPECT_EQ(width_of<bool>({true, false}), 1u);
    EXPECT_EQ(width_of<bool>({false}), 1u);
    EXPECT_EQ(width_of<int>({}), 1u);
    EXPECT_EQ(width_of<int>({0, 1, 255}), 8u);
    EXPECT_EQ(width_of<int>({0, 1, 256}), 9u);
    EXPECT_EQ(width_of<int>({-1, 1, std::numeric_limits<int>::min()}), 32u);
    EXPECT_EQ(width_of<std::int8_t>({-1, 1}), 8u);
    EXPECT_EQ(width_of<size>({size::small, size::large}), 3u);
    EXPECT_EQ(width_of<size>({size::small, size::unknown}), 8u);
    EXPECT_EQ(width_of<std::uint64_t>({~std::uint64_t{0}}), 64u);
    EXPECT_EQ(width_of<std::int64_t>({-1}), 64u);
    EXPECT_EQ(width_of<char>({'a'}), 7u);
}

TEST(typed_maps, take_any_range_of_pairs) {
    const std::map<std::string, int> sorted{{"one", 1}, {"two", 2}, {"three", 3}};
    const std::unordered_map<std::string, int> hashed(sorted.begin(), sorted.end());
    const std::vector<std::tuple<const char*, int>> listed{{"one", 1}, {"two", 2}, {"three", 3}, {"two", 2}};
    const map<std::string, int> values(sorted, 0.001);
    EXPECT_EQ(values.find("two"), 2);
    EXPECT_EQ(to_bytes(values.untyped()), to_bytes(map<std::string, int>(hashed, 0.001).untyped()));
    EXPECT_EQ(to_bytes(values.untyped()), to_bytes(map<std::string, int>(listed, 0.001).untyped()));
}

TEST(typed_maps, are_copied_and_are_empty_after_a_move) {
    map<int, int> first(pairs_of<int, int>(0, 1000, 100), 0.01);
    const map<int, int> copy(first), second(std::move(first));
    for (const auto& [key, value] : pairs_of<int, int>(0, 1000, 100)) {
        ASSERT_EQ(copy.find(key), value);
        ASSERT_EQ(second.find(key), value);
        ASSERT_EQ(first.find(key), std::nullopt);
    }
    EXPECT_EQ(first.items(), 0u);
    first = copy;
    EXPECT_EQ(first.items(), 1000u);
    EXPECT_GT(first.bits_per_key(), 7);
}

TEST(typed_maps, have_files) {
    const map<int, int> values(pairs_of<int, int>(0, 1000, 1000), 0.01);
    expect_files(values, *sealed_filter::make(hasher(), {}));
    const scratch_directory scratch;
    values.save(scratch / "file");
    EXPECT_EQ((*map<int, short>::load(scratch / "file")).find(key_number<int>(3)), 9);
    const auto narrow = map<int, std::uint8_t>::load(scratch / "file");
    ASSERT_FALSE(narrow);
    EXPECT_EQ(narrow.error().kind, error_kind::mismatch);
    expect_mentions(narrow.error().text(), {(scratch / "file").string(), "10 bits"});
}

TEST(typed_maps, say_what_is_impossible) {
    using pairs = std::vector<std::pair<int, int>>;
    const pairs two_values{{1, 1}, {1, 2}};
    EXPECT_THROW((map<int, int>(two_values, 0.01)), exception);
    EXPECT_THROW((map<int, int>(pairs(), 0)), exception);
    EXPECT_THROW((map<int, int>(pairs(), 0.01, hasher(hash_family::xxh3, {0, 1}))), exception);
    EXPECT_FALSE((map<int, int>::make(two_values, 0.01)));
    EXPECT_EQ((map<int, int>(pairs{{1, 7}}, 1)).find(1), 7);
    EXPECT_EQ((map<int, int>(pairs(), 0.01)).untyped().hash().family(), hash_family::xxh3);
}

}  // namespace
}  // namespace posy::typed
