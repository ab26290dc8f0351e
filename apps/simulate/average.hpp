// The mean of a sample and its standard error.
#pragma once

#include <cmath>
#include <cstdint>

namespace posy::simulate {

class average {
  public:
    void add(double x) {
        ++count_;
        const double off = x - mean_;
        mean_ += off / static_cast<double>(count_);
        squares_ += off * (x - mean_);
    }
    std::uint64_t count() const { return count_; }
    double mean() const { return mean_; }
    double error() const {
        return count_ < 2
                   ? 0
                   : std::sqrt(squares_ / static_cast<double>(count_ - 1) / static_cast<double>(count_));
    }

  private:
    std::uint64_t count_ = 0;
    double mean_ = 0, squares_ = 0;  // Welford
};

}  // namespace posy::simulate
