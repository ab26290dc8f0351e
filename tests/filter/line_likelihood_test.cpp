#include "filter/line_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace posy {
namespace {

const std::vector<double> one_bit{0, 1}, eight{0, 0, 0, 0, 0, 0, 0, 0, 1};

// With one bit a key and lines of two bits everything can be worked out by hand: P(y=0) = e^-λ,
// P(y=2) = (1 − e^{-λ/2})², so lines that follow these shares exactly have their maximum at λ.
TEST(line_likelihood, finds_the_load_of_a_model_worked_out_by_hand) {
    for (const double load : {0.1, 1.0, 3.0}) {
        const double p0 = std::exp(-load), half = std::exp(-load / 2), p2 = (1 - half) * (1 - half);
        const std::vector<double> histogram{1e6 * p0, 1e6 * (1 - p0 - p2), 1e6 * p2};
        EXPECT_NEAR(estimate_from_lines(histogram, one_bit).items, 1e6 * load, 1e-6 * 1e6 * load);
    }
}

TEST(line_likelihood, few_collisions_leave_little_doubt) {
    std::vector<double> histogram(513);
    histogram[8] = 10;  // ten lines with one key each
    histogram[0] = 1000;
    const auto e = estimate_from_lines(histogram, eight);
    EXPECT_NEAR(e.items, 10, 1e-3);
    EXPECT_LT(std::sqrt(e.variance), 0.1);
}

TEST(line_likelihood, nothing_and_everything) {
    EXPECT_EQ(estimate_from_lines(std::vector<double>{5, 0, 0}, one_bit).items, 0);
    EXPECT_TRUE(std::isinf(estimate_from_lines(std::vector<double>{0, 0, 5}, one_bit).items));
}

}  // namespace
}  // namespace posy
