#include "posy/publisher.hpp"

#include "posy/subscriber.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr posy::geometry shape{3200, 2, layout_id::spread};

publisher make_publisher(int items, const publishing& how = {}) {
    auto set = *counting_filter::make(shape);
    for (int key = 0; key < items; ++key) set.insert(set.hash()(key));
    return *publisher::make(std::move(set), how);
}

TEST(publisher, is_due_when_a_share_has_changed_or_time_has_passed) {
    auto p = make_publisher(100, {.change = 0.05, .max_age = 1000});
    const hasher hash = p.set().hash();
    EXPECT_FALSE(p.due(5000));  // nothing has changed
    p.insert(hash(1000));
    EXPECT_FALSE(p.due(10));
    EXPECT_TRUE(p.due(1000));
    for (int key = 0; key < 4; ++key) p.insert(hash(2000 + key));
    EXPECT_TRUE(p.due(10));
    ASSERT_TRUE(p.publish(10));
    EXPECT_EQ(p.generation(), 2u);
    EXPECT_FALSE(p.due(11));
    EXPECT_FALSE(p.remove(hash("never")));
    ASSERT_TRUE(p.publish(12));
    EXPECT_EQ(p.generation(), 2u);
}

TEST(publisher, hurries_with_any_change_once) {
    auto p = make_publisher(100, {.change = 0.05, .max_age = 1000});
    const hasher hash = p.set().hash();
    p.hurry();  // there is nothing to publish
    p.insert(hash(1000));
    EXPECT_FALSE(p.due(10));
    p.hurry();
    EXPECT_TRUE(p.due(10));
    ASSERT_TRUE(p.publish(10));
    p.insert(hash(1001));
    EXPECT_FALSE(p.due(11));
}

TEST(publisher, is_due_when_a_share_of_the_bits_has_changed) {
    auto p = make_publisher(100, {.change = 0.0001, .max_age = 1000, .change_bits = 0.01});
    const hasher hash = p.set().hash();
    EXPECT_FALSE(p.due(5000));  // nothing has changed
    // A key that came and went again has left no bit behind, and is no reason to publish before its time.
    for (int key = 1000; key < 1100; ++key) p.insert(hash(key));
    EXPECT_TRUE(p.due(10));
    for (int key = 1000; key < 1100; ++key) p.remove(hash(key));
    EXPECT_EQ(p.set().flipped_count(), 0u);
    EXPECT_FALSE(p.due(10));
    EXPECT_TRUE(p.due(1000));
    // 32 of 3,200 bits, and not one less.
    int key = 2000;
    for (; p.set().flipped_count() < 32; ++key) {
        EXPECT_FALSE(p.due(10)) << p.set().flipped_count();
        p.insert(hash(key));
    }
    EXPECT_TRUE(p.due(10));
    ASSERT_TRUE(p.publish(10));
    EXPECT_FALSE(p.due(11));
    // From there on again: removing them changes the same bits back.
    while (key-- > 2000) p.remove(hash(key));
    EXPECT_TRUE(p.due(11));
    EXPECT_GE(p.set().flipped_count(), 32u);
}

TEST(publisher, is_due_when_it_has_misled_requests) {
    auto p = make_publisher(100, {.change = 0.0001, .max_age = 1000, .misled = 2});
    const hasher hash = p.set().hash();
    for (int key = 1000; key < 1100; ++key) p.insert(hash(key));
    EXPECT_FALSE(p.due(10));  // nobody has asked for them
    EXPECT_TRUE(p.due(1000));
    EXPECT_FALSE(p.asked(hash(1)));       // is there and published
    EXPECT_FALSE(p.asked(hash(50'000)));  // is not there, nor published
    EXPECT_TRUE(p.asked(hash(1000)));
    EXPECT_FALSE(p.due(10));
    EXPECT_TRUE(p.asked(hash(1000)));
    EXPECT_TRUE(p.due(10));
    ASSERT_TRUE(p.publish(10));
    EXPECT_FALSE(p.asked(hash(1000)));
    // What has left and is still named misleads as well.
    p.remove(hash(1000));
    EXPECT_TRUE(p.asked(hash(1000)));
    EXPECT_FALSE(p.due(10));
    EXPECT_TRUE(p.asked(hash(1000)));
    EXPECT_TRUE(p.due(10));
}

// The published state does not change while the set does.
TEST(publisher, the_full_message_is_the_published_state) {
    auto p = make_publisher(100);
    const auto first = *from_bytes(*p.full());
    p.insert(p.set().hash()(1000));
    p.remove(p.set().hash()(0));
    const auto again = *from_bytes(*p.full());
    EXPECT_EQ(std::get<bloom_filter>(first.body), std::get<bloom_filter>(again.body));
    EXPECT_EQ(std::get<bloom_filter>(again.body).items(), 100u);
    ASSERT_TRUE(p.publish(1));
    EXPECT_EQ(std::get<bloom_filter>(from_bytes(*p.full())->body), p.set().projection());
}

TEST(publisher, deltas_reach_as_far_back_as_the_history) {
    auto p = make_publisher(100, {.history = 3});
    std::vector<bloom_filter> generations;
    for (int g = 0; g < 6; ++g) {
        generations.push_back(*p.set().projection().clone());
        p.insert(p.set().hash()(1000 + g));
        p.remove(p.set().hash()(g));
        ASSERT_TRUE(p.publish(static_cast<std::uint64_t>(g)));
    }
    EXPECT_EQ(p.generation(), 7u);
    for (std::uint64_t base = 1; base <= 6; ++base) {
        const auto delta = *p.delta_from(base);
        ASSERT_EQ(delta.has_value(), base >= 4) << base;
        if (!delta) continue;
        auto& filter = generations[base - 1];
        ASSERT_TRUE(apply(filter, std::get<filter_delta>(from_bytes(*delta)->body)));
        EXPECT_EQ(filter, p.set().projection());
    }
    EXPECT_FALSE(p.delta_from(99)->has_value());
}

TEST(publisher, answers_with_the_smaller_message) {
    auto p = make_publisher(1000);
    p.insert(p.set().hash()(5000));
    ASSERT_TRUE(p.publish(1));
    using kind = publisher::reply::kind;
    const edition first{1, *p.checksum_of(1)}, second = p.edition();
    EXPECT_EQ(p.answer(second)->what, kind::unchanged);
    EXPECT_EQ(p.answer(second)->message, nullptr);
    const auto delta = *p.answer(first);
    EXPECT_EQ(delta.what, kind::delta);
    EXPECT_EQ(delta.which, second);
    EXPECT_LT(delta.message->size(), 60u);
    EXPECT_EQ(p.answer(first)->message, delta.message);  // the same one: it is kept
    // To those that hold nothing, something of another publisher, or take no deltas: the whole.
    const auto gets_the_whole = [&](std::optional<edition> have, bool deltas = true) {
        const auto got = *p.answer(have, deltas);
        EXPECT_EQ(got.what, kind::whole);
        EXPECT_EQ(got.which, p.edition());
        EXPECT_EQ(*got.message, *p.full());
    };
    gets_the_whole(std::nullopt);
    gets_the_whole(edition{77, 0});
    gets_the_whole(edition{1, first.checksum ^ 1U});
    gets_the_whole(edition{2, second.checksum ^ 1U});
    gets_the_whole(first, false);
    for (int key = 0; key < 990; ++key) p.remove(p.set().hash()(key));
    for (int key = 0; key < 990; ++key) p.insert(p.set().hash()(7000 + key));
    ASSERT_TRUE(p.publish(2));
    gets_the_whole(second);  // nearly all has changed: the delta would be larger
}

// The full message says what the set was planned for; deltas do not, and do not change it.
TEST(publisher, followers_know_the_plan) {
    auto set = *counting_filter::make(shape);
    set.set_planned(promise{400, 0.125});
    auto p = *publisher::make(std::move(set));
    subscriber s;
    s.receive(*p.full(), 0);
    EXPECT_EQ(s.filter()->provenance(), (provenance{0, false, promise{400, 0.125}}));
    p.insert(p.set().hash()(1));
    ASSERT_TRUE(p.publish(1));
    ASSERT_EQ(s.receive(**p.delta_from(1), 1), reception::updated);
    EXPECT_EQ(s.filter()->provenance(), (provenance{1, false, promise{400, 0.125}}));
}

TEST(publisher, a_new_base_is_announced) {
    auto p = make_publisher(100);
    subscriber s;
    s.receive(*p.full(), 0);
    auto reseeded = *counting_filter::make({6400, 2, layout_id::spread, hash_family::xxh3, {9}});
    reseeded.insert(reseeded.hash()("only"));
    ASSERT_TRUE(p.rebase(std::move(reseeded), 5));
    EXPECT_FALSE(p.delta_from(1)->has_value());
    EXPECT_EQ(s.receive(*p.answer(s.edition())->message, 6), reception::replaced);
    EXPECT_EQ(s.filter()->geometry().seed.low, 9u);
    EXPECT_TRUE(s.filter()->may_contain(s.filter()->hash()("only")));
}

}  // namespace
}  // namespace posy
