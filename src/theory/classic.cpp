// Fill and rates of the classic filter, and of the sliced one.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

// throws · ln(1 − part): the logarithm of the probability that none of them lands in that part of the array.
double log_missed(double throws, double part) { return throws > 0 ? throws * std::log1p(-part) : 0; }

// The Markov chain of spread_rate. Of u given bits still 0, a throw sets one with probability u/m; `steps`
// throws take u to v with the probability at (u, v). Squaring doubles the steps. Every term is positive and
// the diagonal (1−u/m)^steps is known in closed form, so errors add up instead of doubling: they stay near k
// log2(steps) ulps, where plain squaring would end with `steps` ulps.
class covering_chain {
  public:
    covering_chain(unsigned most, double m) : size_(most + 1), m_(m), at_(std::size_t{size_} * size_) {
        for (unsigned u = 1; u < size_; ++u) cell(u, u - 1) = u / m_;
        stay();
    }

    double cell(unsigned u, unsigned v) const { return at_[std::size_t{u} * size_ + v]; }

    // Row by row, so that the inner loop runs along memory: (u, v) is the sum over w of (u, w) · (w, v).
    covering_chain squared() const {
        covering_chain both(size_, m_, 2 * steps_);
        for (unsigned u = 0; u < size_; ++u) {
            double* const to = &both.at_[std::size_t{u} * size_];
            for (unsigned w = 0; w <= u; ++w) {
                const double* const from = &at_[std::size_t{w} * size_];
                const double share = cell(u, w);
                for (unsigned v = 0; v <= w; ++v) to[v] += share * from[v];
            }
        }
        both.stay();
        return both;
    }

    // One throw more: it sets one of the v + 1 bits left, or none of the v.
    void throw_once() {
        ++steps_;
        for (unsigned u = 0; u < size_; ++u) {
            for (unsigned v = 0; v < u; ++v)
                cell(u, v) = cell(u, v) * (1 - v / m_) + cell(u, v + 1) * ((v + 1) / m_);
        }
        stay();
    }

  private:
    covering_chain(unsigned size, double m, double steps)
        : size_(size), m_(m), steps_(steps), at_(std::size_t{size} * size) {}
    double& cell(unsigned u, unsigned v) { return at_[std::size_t{u} * size_ + v]; }
    void stay() {
        for (unsigned u = 0; u < size_; ++u) cell(u, u) = std::exp(log_missed(steps_, u / m_));
    }

    unsigned size_;
    double m_, steps_ = 1;
    std::vector<double> at_;
};

covering_chain power(const covering_chain& once, std::uint64_t steps) {
    covering_chain result = once;
    for (std::uint64_t bit = std::bit_floor(steps) >> 1; bit != 0; bit >>= 1) {
        result = result.squared();
        if ((steps & bit) != 0) result.throw_once();
    }
    return result;
}

}  // namespace

double zero_probability(double n, double m, double k) { return std::exp(log_missed(n * k, 1 / m)); }

double zero_probability_asymptotic(double n, double m, double k) { return std::exp(-k * n / m); }

double zero_count_variance(double n, double m, double k) {
    if (m <= 1) return 0;
    const double p = zero_probability(n, m, k), others = m - 1;
    return m * p * -std::expm1(log_missed(n * k, 1 / others)) +
           m * p * m * p * std::expm1(log_missed(n * k, 1 / others / others));
}

double false_positive_rate_asymptotic(double n, double m, double k) {
    return std::pow(-std::expm1(-k * n / m), k);
}

double false_positive_rate_mean_fill(double n, double m, double k) {
    return std::pow(-std::expm1(log_missed(n * k, 1 / m)), k);
}

// A query looks at j different bits with probability S(k,j) m!/(m−j)!/m^k (the recurrence below); all j are
// set with the probability that the chain gets from j to 0 in nk throws.
double spread_rate(double n, double m, unsigned k) {
    const auto throws = static_cast<std::uint64_t>(std::clamp(std::round(n) * k, 0.0, 0x1p63));
    if (k == 0 || throws == 0) return k == 0 ? 1 : 0;
    const unsigned most = m < k ? static_cast<unsigned>(m) : k;
    std::vector<double> different(most + 1);
    different[0] = 1;
    for (unsigned looks = 0; looks < k; ++looks) {
        for (unsigned j = most; j > 0; --j) {
            different[j] = different[j] * (j / m) + different[j - 1] * ((m - j + 1) / m);
        }
        different[0] = 0;
    }
    const covering_chain chain = power(covering_chain(most, m), throws);
    double rate = 0;
    for (unsigned j = 1; j <= most; ++j) rate += different[j] * chain.cell(j, 0);
    return rate;
}

double sliced_rate(double n, double m, unsigned k) { return std::pow(-std::expm1(log_missed(n, k / m)), k); }

}  // namespace posy::theory
