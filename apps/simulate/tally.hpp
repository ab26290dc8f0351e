// Mean and standard error of a sample, as figures of a report have them.
#pragma once

#include <cmath>
#include <cstdint>

namespace posy::simulate {

class tally {
  public:
    void add(double x) {
        ++count_;
        const double off = x - mean_;
        mean_ += off / static_cast<double>(count_);
        squares_ += off * (x - mean_);
    }
    std::uint64_t count() const { return count_; }
    double mean() const { return mean_; }
    double sum() const { return mean_ * static_cast<double>(count_); }
    // Of the mean.
    double error() const {
        const auto n = static_cast<double>(count_);
        return count_ < 2 ? 0 : std::sqrt(squares_ / n / (n - 1));
    }

  private:
    std::uint64_t count_ = 0;
    double mean_ = 0, squares_ = 0;  // Welford: the sum of the squared distances from the mean
};

}  // namespace posy::simulate
