// The oracle contradicts every type that is wrong, and leaves alone what is right.
#include "checked.hpp"

#include <gtest/gtest-spi.h>

#include <array>
#include <unordered_set>

namespace posy {
namespace {

constexpr geometry shape{100'000, 8, layout_id::spread};

std::vector<digest> digests_of(int from, int to) {
    std::vector<digest> digests;
    for (int key = from; key < to; ++key) digests.push_back(hasher()(key));
    return digests;
}

// Every type in turn, with no key of `told` inside although it is said to be there. At these rates all of 100
// absent keys would be taken for members less than once in 10^100 runs.
TEST(checked, keys_that_are_not_there_are_missed) {
    const auto told = digests_of(0, 100), others = digests_of(100, 200);
    const std::vector<std::uint64_t> numbers(100, 50);
    const auto empty = [] { return *bloom_filter::make(shape); };
    EXPECT_NONFATAL_FAILURE(checked(empty(), told), "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*counting_filter::make(shape), told), "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*growing_filter::make({.first_bytes = 4096}), told), "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*compressed_filter::make(empty(), queryable_form::fast), told),
                            "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*sealed_filter::make(hasher(), others), told), "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*window_filter::make(shape, {100, 0.01}, 100, 4), told, numbers),
                            "a key of number 50");
    EXPECT_NONFATAL_FAILURE(checked(*bloomier_map::make(hasher(), others, numbers), told, numbers),
                            "a key of number 50");
    EXPECT_NONFATAL_FAILURE(checked(*count_min::make(hasher(), 1000, 3), told), "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*spectral_filter::make(shape, spectral_method::minimum_increase), told),
                            "a key of number 1");
    EXPECT_NONFATAL_FAILURE(checked(*heavy_hitters::top(*count_min::make(hasher(), 1000, 3), 10), told),
                            "a key of number 1");
}

TEST(checked, keys_that_are_there_are_found) {
    const auto told = digests_of(0, 100);
    const std::vector<std::uint64_t> numbers(100, 50);
    auto bloom = *bloom_filter::make(shape);
    bloom.insert(told);
    checked(*compressed_filter::make(bloom, queryable_form::small), told);
    checked(std::move(bloom), told);
    checked(*sealed_filter::make(hasher(), told), told);
    checked(*bloomier_map::make(hasher(), told, numbers), told, numbers);
}

TEST(checked, wrong_numbers_are_noticed) {
    const auto told = digests_of(0, 100);
    const std::vector<std::uint64_t> numbers(100, 50), more(100, 51);
    EXPECT_NONFATAL_FAILURE(checked(*bloomier_map::make(hasher(), told, numbers), told, more),
                            "a key of number 51");
    auto sketch = *count_min::make(hasher(), 1000, 3);
    sketch.add(told);
    EXPECT_NONFATAL_FAILURE(checked(*sketch.clone(), told, more), "a key of number 51");
    sketch.add(told);
    EXPECT_NONFATAL_FAILURE(checked(std::move(sketch), told), "the number of items");
    auto bloom = *bloom_filter::make(shape);
    bloom.insert(told);
    EXPECT_NONFATAL_FAILURE(checked(std::move(bloom), std::span(told).first(99)), "the number of items");
}

// A set that is wrong in one way.
struct wrong_set {
    enum { forgets, agrees, refuses } way;
    std::unordered_set<std::uint64_t> keys{};

    hasher hash() const { return hasher(); }
    std::optional<std::uint64_t> items() const { return std::nullopt; }
    void insert(digest d) {
        if (way == forgets && d == digest{}) keys.erase(hasher()(0).low);
        keys.insert(d.low);
    }
    bool remove(digest) { return way != refuses; }
    bool may_contain(digest d) const { return keys.contains(d.low); }
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const {
        for (std::size_t i = 0; i < digests.size(); ++i)
            answers[i] = way == agrees || may_contain(digests[i]);
        return digests.size();
    }
};

TEST(checked, every_verb_is_checked) {
    const auto digests = digests_of(0, 2);
    std::array<bool, 2> answers{};
    checked forgetful(wrong_set{wrong_set::forgets});
    forgetful.insert(digests[0]);
    EXPECT_NONFATAL_FAILURE(forgetful.insert(digest{}), "a key of number 1");
    checked agreeable(wrong_set{wrong_set::agrees});
    agreeable.insert(digests[0]);
    EXPECT_NONFATAL_FAILURE(agreeable.may_contain(digests, answers), "a batch at number 1");
    checked stubborn(wrong_set{wrong_set::refuses});
    stubborn.insert(digests[0]);
    EXPECT_NONFATAL_FAILURE(stubborn.remove(digests[0]), "the refusal to remove a key that is there");
    checked hasty(wrong_set{wrong_set::forgets});
    EXPECT_NONFATAL_FAILURE(hasty.remove(digests[0]), "the removal of a key that is not there");
    checked miscounting(wrong_set{wrong_set::forgets});
    miscounting.insert(digests[0]);
    EXPECT_NONFATAL_FAILURE(miscounting.may_contain(digests, answers),
                            "the number of keys that may be there");
}

// Among many keys each has its turn: one that was lost is missed after at most one round.
TEST(checked, of_many_keys_all_have_their_turn) {
    const auto many = digests_of(0, 2000);
    checked set(wrong_set{wrong_set::forgets});
    for (const digest d : many) set.insert(d);
    const auto calls = set.known().bucket_count() / oracle<wrong_set>::watched + 1;
    EXPECT_GT(calls, 10u);
    const auto lose_one = [&] {
        set.insert(digest{});
        for (std::size_t call = 0; call < calls; ++call) set.insert(many[1]);
    };
    EXPECT_NONFATAL_FAILURE(lose_one(), "a key of number 1");
}

}  // namespace
}  // namespace posy
