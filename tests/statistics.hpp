// Statistical checks that cannot pass because nothing was checked.
//
// Each of these counts what it is given, and fails at the end of its scope when that is less than stated: a
// loop whose conditions left nothing to do, or a sample that was never drawn, proves nothing. How many
// deviations are tolerated is up to the test, which states the odds of a false alarm.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace posy {

// The checks of a loop: at least this many.
class at_least {
  public:
    explicit at_least(std::uint64_t least, std::string what = "checks", const char* file = __builtin_FILE(),
                      int line = __builtin_LINE())
        : least_(std::max<std::uint64_t>(least, 1)), what_(std::move(what)), file_(file), line_(line) {}
    // After a fatal failure the test has ended early, and says so.
    ~at_least() {
        if (count_ < least_ && !testing::Test::HasFatalFailure())
            ADD_FAILURE_AT(file_, line_)
                << what_ << ": " << count_ << " where at least " << least_ << " were to be checked";
    }
    at_least(const at_least&) = delete;
    at_least& operator=(const at_least&) = delete;

    at_least& operator++() { return *this += 1; }
    at_least& operator+=(std::uint64_t checked) {
        count_ += checked;
        return *this;
    }
    std::uint64_t count() const { return count_; }

  protected:
    // Puts the test's line and words into the failures of a scope.
    testing::ScopedTrace trace() const { return {file_, line_, what_}; }

  private:
    std::uint64_t count_ = 0, least_;
    std::string what_;
    const char* file_;
    int line_;
};

// Draws of a random quantity.
class sample : public at_least {
  public:
    explicit sample(std::uint64_t least, std::string what = "draws", const char* file = __builtin_FILE(),
                    int line = __builtin_LINE())
        : at_least(least, std::move(what), file, line) {}

    void add(double x) {
        ++*this;
        const double off = x - mean_;
        mean_ += off / size();
        squares_ += off * (x - mean_);
        lowest_ = std::min(lowest_, x);
        highest_ = std::max(highest_, x);
    }
    double mean() const { return mean_; }
    double deviation() const { return std::sqrt(squares_ / size()); }
    // Of the mean, by the spread between the draws.
    double standard_error() const { return std::sqrt(squares_ / size() / (size() - 1)); }
    double lowest() const { return lowest_; }
    double highest() const { return highest_; }

    // Within this many standard errors, and `slack` for what the theory leaves out.
    void expect_mean(double expected, double errors, double slack = 0) const {
        const auto here = trace();
        EXPECT_NEAR(mean(), expected, errors * standard_error() + slack);
    }

  private:
    double size() const { return static_cast<double>(count()); }

    double mean_ = 0, squares_ = 0;  // Welford: the sum of the squared distances from the mean
    double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -lowest_;
};

// Questions that are answered by yes or no, each with a stated probability of yes.
class bernoulli : public at_least {
  public:
    explicit bernoulli(std::uint64_t least, std::string what = "questions",
                       const char* file = __builtin_FILE(), int line = __builtin_LINE())
        : at_least(least, std::move(what), file, line) {}

    void add(bool yes, double probability) { add(yes, 1, probability); }
    void add(std::uint64_t yes, std::uint64_t asked, double probability) {
        *this += asked;
        yes_ += static_cast<double>(yes);
        expected_ += static_cast<double>(asked) * probability;
        variance_ += static_cast<double>(asked) * probability * (1 - probability);
    }
    double yes() const { return yes_; }
    double expected() const { return expected_; }
    double deviation() const { return std::sqrt(variance_); }

    void expect(double deviations, double slack = 0) const {
        const auto here = trace();
        EXPECT_NEAR(yes(), expected(), deviations * deviation() + slack);
    }

  private:
    double yes_ = 0, expected_ = 0, variance_ = 0;
};

}  // namespace posy
