// typed::window<Key> is a window_filter of the keys' digests at their microseconds.
#include "posy/typed/window.hpp"

#include "checked.hpp"
#include "posy/secret_hash.hpp"
#include "typed/files.hpp"
#include "typed/keys.hpp"

namespace posy::typed {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds, std::chrono::system_clock;

constexpr system_clock::time_point start = sys_seconds(1'700'000'000s);
std::uint64_t micro(system_clock::time_point time) {
    return static_cast<std::uint64_t>(
        std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count());
}

template <class Key>
class typed_window : public testing::Test {};
TYPED_TEST_SUITE(typed_window, kinds_of_keys);

TYPED_TEST(typed_window, is_the_untyped_one) {
    for (const hasher& hash : {hasher(hash_family::fold64), hash::secret_hasher()}) {
        window<TypeParam> set(1000, 0.01, 10s, 5, hash);
        checked twin(*window_filter::with_rate(1000, 0.01, 10'000'000, 5, layout_id::blocked, hash));
        const auto all = keys_of<TypeParam>(0, 3000);
        const auto digests = digests_of_all(hash, all);
        // 100 keys a second, some of them late, half of each hundred in a batch.
        for (std::size_t i = 0; i < all.size(); i += 100) {
            const auto now = start + i / 100 * 1s - (i % 700 == 0 ? 3s : 0s) + 1500us;
            for (std::size_t j = i; j < i + 50; ++j)
                ASSERT_EQ(set.insert(all[j], now), twin.insert(digests[j], micro(now)));
            ASSERT_EQ(set.insert(std::span(all).subspan(i + 50, 50), now),
                      twin.insert(std::span<const digest>(digests).subspan(i + 50, 50), micro(now)));
        }
        EXPECT_EQ(to_bytes(set.untyped()), to_bytes(*twin));
        for (const auto later : {0s, 5s, 9s, 30s}) {
            const auto now = start + 30s + later;
            answers_for answers(all.size());
            const std::size_t yes = set.may_contain(all, now, answers.span);
            EXPECT_EQ(yes, static_cast<std::size_t>(std::ranges::count(answers.span, true)));
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(answers.span[i], set.may_contain(all[i], now)) << i;
                ASSERT_EQ(answers.span[i], twin.may_contain(digests[i], micro(now))) << i;
            }
            EXPECT_EQ(set.items(now), twin->items(micro(now)));
        }
    }
}

TEST(typed_window_filters, remember_for_a_window) {
    window<std::string> lately(1000, 0.0001, 1h);
    EXPECT_TRUE(lately.insert("a", start));
    EXPECT_TRUE(lately.may_contain("a", start));
    EXPECT_TRUE(lately.may_contain("a", start + 1h));
    EXPECT_FALSE(lately.may_contain("a", start + 1h + 7min + 31s));
    EXPECT_FALSE(lately.may_contain("b", start));
    // The time of a query that lies before the latest insertion is that of the insertion.
    EXPECT_TRUE(lately.may_contain("a", start - 24h));
    EXPECT_TRUE(lately.insert("a", start + 2h));
    EXPECT_TRUE(lately.may_contain("a", start + 3h));
    EXPECT_FALSE(lately.insert("b", start));
    EXPECT_FALSE(lately.insert(std::vector<std::string>{"b", "c"}, start));
    EXPECT_FALSE(lately.may_contain("b", start + 2h));
    EXPECT_EQ(lately.false_positive_rate(start + 10h), 0);
}

// `posy seen` counts the microseconds since 1970.
TEST(typed_window_filters, count_microseconds) {
    window<int> set(1000, 0.01, 8s, 4);
    EXPECT_EQ(set.untyped().slot(), 2'000'000u);
    set.insert(1, start + 1'234'567'890ns);
    EXPECT_EQ(set.untyped().latest(), 1'700'000'001'234'567u);
    window<int> early(1000, 0.01, 8s);
    EXPECT_TRUE(early.insert(1, sys_seconds(-100s)));
    EXPECT_EQ(early.untyped().latest(), 0u);
}

// A clock of one's own.
struct turns {
    using rep = int;
    using period = std::ratio<60>;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<turns>;
};
TEST(typed_window_filters, take_any_clock) {
    window<int, turns> set(1000, 0.01, 10min, 5);
    const turns::time_point third(turns::duration(3));
    set.insert(1, third);
    EXPECT_EQ(set.untyped().latest(), 180'000'000u);
    EXPECT_TRUE(set.may_contain(1, third + turns::duration(10)));
    EXPECT_FALSE(set.may_contain(1, third + turns::duration(12)));
    window<int, std::chrono::steady_clock>(10, 0.01, 1s).insert(1, std::chrono::steady_clock::time_point(5s));
}

TEST(typed_window_filters, can_be_used_after_a_move) {
    window<int> first(1000, 0.01, 10s, 3);
    first.insert(1, start);
    window<int> second(std::move(first));
    EXPECT_TRUE(second.may_contain(1, start));
    EXPECT_FALSE(first.may_contain(1, start));
    EXPECT_EQ(first.untyped().slot(), second.untyped().slot());
    EXPECT_EQ(first.untyped().planned(), second.untyped().planned());
    EXPECT_TRUE(first.insert(2, start));
    second = std::move(first);
    EXPECT_TRUE(second.may_contain(2, start));
    EXPECT_EQ(first.items(start), 0u);
}

TEST(typed_window_filters, have_files) {
    window<int> set(1000, 0.01, 10s);
    set.insert(keys_of<int>(0, 500), start);
    expect_files(set, *bloom_filter::make({512, 8}));
}

TEST(typed_window_filters, say_what_is_impossible) {
    EXPECT_THROW((window<int>(1000, 0, 1s)), exception);
    EXPECT_THROW((window<int>(0, 0.01, 1s)), exception);
    EXPECT_THROW((window<int>(1000, 0.01, 0s)), exception);
    EXPECT_THROW((window<int>(1000, 0.01, -1s)), exception);
    EXPECT_THROW((window<int>(1000, 0.01, 1s, 0)), exception);
    EXPECT_THROW((window<int>(1000, 0.01, 1s, 1000)), exception);
    EXPECT_THROW((window<int>(1000, 0.01, 1s, 8, hasher(hash_family::xxh3, {0, 1}))), exception);
    EXPECT_FALSE(window<int>::make(1000, 2, 1s));
}

}  // namespace
}  // namespace posy::typed
