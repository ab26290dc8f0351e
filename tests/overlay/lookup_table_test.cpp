#include "posy/overlay/lookup_table.hpp"

#include <gtest/gtest.h>

namespace posy::overlay {
namespace {

const digest key{1, 2}, other{3, 4};

TEST(lookup_table, asks_again_and_gives_up) {
    lookup_table table({.patience = 100, .attempts = 3, .most = 10});
    const auto id = table.add(key, 0);
    ASSERT_TRUE(id);
    EXPECT_EQ(table.next_tick(), 100u);
    unsigned again = 0;
    const auto count = [&](std::uint32_t which, const digest& what) {
        EXPECT_EQ(which, *id);
        EXPECT_EQ(what, key);
        ++again;
    };
    table.tick(99, count);
    EXPECT_EQ(again, 0u);
    table.tick(100, count);
    table.tick(200, count);
    EXPECT_EQ(again, 2u);
    EXPECT_TRUE(table.take_answers().empty());
    table.tick(300, count);
    EXPECT_EQ(again, 2u);
    const auto answers = table.take_answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_TRUE(answers[0].timed_out);
    EXPECT_EQ(answers[0].attempts, 3u);
    EXPECT_EQ(table.next_tick(), std::nullopt);
    EXPECT_FALSE(table.answer(*id, key, 7, 1, 301)) << "too late";
}

TEST(lookup_table, takes_the_answer_to_its_question_once) {
    lookup_table table({.patience = 100, .attempts = 3, .most = 2});
    const auto id = table.add(key, 10);
    EXPECT_TRUE(table.add(other, 10));
    EXPECT_FALSE(table.add(other, 10)) << "too many wait";
    EXPECT_FALSE(table.answer(*id, other, 7, 1, 20)) << "another key";
    EXPECT_FALSE(table.answer(99, key, 7, 1, 20)) << "another number";
    EXPECT_TRUE(table.answer(*id, key, 7, 5, 20));
    EXPECT_FALSE(table.answer(*id, key, 8, 5, 21));
    const auto answers = table.take_answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].holder, 7u);
    EXPECT_EQ(answers[0].hops, 5u);
    EXPECT_EQ(answers[0].took, 10u);
    EXPECT_EQ(table.waiting(), 1u);
}

}  // namespace
}  // namespace posy::overlay
