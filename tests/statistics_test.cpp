#include "statistics.hpp"

#include <gtest/gtest-spi.h>

#include <vector>

namespace posy {
namespace {

// A loop as it could be in a test, over what is left after its conditions.
void check_each(const std::vector<int>& left, std::uint64_t least) {
    at_least rows(least, "rows");
    for (const int row : left) {
        EXPECT_GT(row, 0);
        ++rows;
    }
}

TEST(statistics, a_loop_that_checks_nothing_fails) {
    EXPECT_NONFATAL_FAILURE(check_each({}, 3), "rows: 0 where at least 3 were to be checked");
    EXPECT_NONFATAL_FAILURE(check_each({}, 0), "rows: 0 where at least 1");
    EXPECT_NONFATAL_FAILURE(check_each({5, 6}, 3), "rows: 2 where at least 3");
    check_each({5, 6, 7}, 3);
}

TEST(statistics, a_sample_of_nothing_fails) {
    EXPECT_NONFATAL_FAILURE(sample(10), "draws: 0 where at least 10");
    EXPECT_NONFATAL_FAILURE(bernoulli(10), "questions: 0 where at least 10");
    const auto draw = [](int draws) {
        sample s(4, "dice");
        for (int i = 0; i < draws; ++i) s.add(i % 2);
    };
    EXPECT_NONFATAL_FAILURE(draw(3), "dice: 3 where at least 4");
    draw(4);
    const auto ask = [](std::uint64_t asked) {
        bernoulli answers(100);
        answers.add(asked / 2, asked, 0.5);
        answers.expect(4.5);
    };
    EXPECT_NONFATAL_FAILURE(ask(0), "questions: 0 where at least 100");
    EXPECT_NONFATAL_FAILURE(ask(99), "questions: 99 where at least 100");
    ask(100);
}

TEST(statistics, moments_by_hand) {
    sample s(4);
    for (const double x : {1.0, 2.0, 3.0, 6.0}) s.add(x);
    EXPECT_DOUBLE_EQ(s.mean(), 3);
    EXPECT_DOUBLE_EQ(s.deviation(), std::sqrt(14.0 / 4));
    EXPECT_DOUBLE_EQ(s.standard_error(), std::sqrt(14.0 / 12));
    EXPECT_EQ(s.lowest(), 1);
    EXPECT_EQ(s.highest(), 6);
    bernoulli answers(3);
    answers.add(true, 0.5);
    answers.add(1, 2, 0.25);
    EXPECT_EQ(answers.yes(), 2);
    EXPECT_DOUBLE_EQ(answers.expected(), 1);
    EXPECT_DOUBLE_EQ(answers.deviation(), std::sqrt(0.25 + 2 * 0.1875));
}

TEST(statistics, what_lies_beyond_the_tolerance_fails) {
    sample s(2, "twos");
    for (const double x : {1.0, 3.0}) s.add(x);  // a mean of 2 with a standard error of 1
    s.expect_mean(6, 4);
    s.expect_mean(6.5, 4, 0.5);
    EXPECT_NONFATAL_FAILURE(s.expect_mean(6.1, 4), "twos");
    bernoulli answers(100, "coins");
    answers.add(60, 100, 0.5);  // ten too many, with a deviation of 5
    answers.expect(2);
    answers.expect(1.9, 0.5);
    EXPECT_NONFATAL_FAILURE(answers.expect(1.9), "coins");
}

// One draw says nothing of its spread: the standard error is no number, and nothing lies within it.
TEST(statistics, one_draw_has_no_standard_error) {
    sample s(1);
    s.add(7);
    EXPECT_NONFATAL_FAILURE(s.expect_mean(7, 4.5), "draws");
}

}  // namespace
}  // namespace posy
