// Has a rate risen? Page's cumulative sum (1954), over answers that are right or wrong.
//
// Every answer adds the logarithm of how much more likely it is at `factor` times the planned rate than at
// the rate itself, and the sum never goes below 0, so that a good past does not hide a bad present. As long
// as the rate is at most the planned one, a false alarm comes once in 10^9 answers or more rarely (Lorden
// 1971: the mean time to it is at least e^limit), however often evident() is asked. At `factor` times the
// rate p, the alarm comes after about limit/(p(factor·ln factor − factor + 1)) answers: 5,400 for a factor of
// 2 at 1 %.
//
// Cost: an addition per answer. Thread safety: none.
#pragma once

#include <algorithm>

#include "posy/result.hpp"

namespace posy::store {

class rate_watch {
  public:
    // An error unless 0 < rate, 1 < factor and rate·factor < 1.
    static result<rate_watch> make(double rate, double factor);

    void right() { sum_ = std::max(0.0, sum_ + if_right_); }
    void wrong() { sum_ += if_wrong_; }
    bool evident() const { return sum_ >= limit; }
    void restart() { sum_ = 0; }

  private:
    static constexpr double limit = 20.72;  // ln 10^9

    rate_watch(double if_right, double if_wrong) : if_right_(if_right), if_wrong_(if_wrong) {}

    double if_right_, if_wrong_, sum_ = 0;
};

}  // namespace posy::store
