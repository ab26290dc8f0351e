#include "posy/theory/loops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace posy::theory {
namespace {

// ln C(n, k) for n up to a bound, from a table of ln i!.
class binomials {
  public:
    explicit binomials(unsigned most) : log_factorial_(most + 1) {
        for (unsigned i = 1; i <= most; ++i) log_factorial_[i] = log_factorial_[i - 1] + std::log(i);
    }
    double log_choose(unsigned n, unsigned k) const {
        return log_factorial_[n] - log_factorial_[k] - log_factorial_[n - k];
    }

  private:
    std::vector<double> log_factorial_;
};

}  // namespace

double false_loop_odds(unsigned hops, unsigned bits, unsigned mask_bits) {
    const unsigned m = bits, k = mask_bits;
    if (k == 0 || k > m) return std::numeric_limits<double>::quiet_NaN();
    const binomials c(m);
    // share[x·(k+1) + j]: that a mask has j bits outside of x given ones.
    std::vector<double> share(std::size_t{m + 1} * (k + 1));
    for (unsigned x = 0; x <= m; ++x)
        for (unsigned j = 0; j <= k; ++j)
            if (j <= m - x && k - j <= x)
                share[std::size_t{x} * (k + 1) + j] =
                    std::exp(c.log_choose(m - x, j) + c.log_choose(x, k - j) - c.log_choose(m, k));
    std::vector<double> now(m + 1), next(m + 1);
    now[0] = 1;
    double stopped = 0;
    for (unsigned hop = 0; hop < hops; ++hop) {
        std::ranges::fill(next, 0.0);
        for (unsigned x = 0; x <= std::min(m, hop * k); ++x) {
            const double* const of_x = &share[std::size_t{x} * (k + 1)];
            stopped += now[x] * of_x[0];
            for (unsigned j = 1; j <= std::min(k, m - x); ++j) next[x + j] += now[x] * of_x[j];
        }
        now.swap(next);
    }
    return std::min(stopped, 1.0);
}

// The odds fall to one minimum and rise again, so the first that is not better ends the search.
unsigned best_mask_bits(unsigned hops, unsigned bits) {
    unsigned best = 1;
    double least = false_loop_odds(hops, bits, best);
    for (unsigned k = 2; k <= bits; ++k) {
        const double odds = false_loop_odds(hops, bits, k);
        if (odds >= least) break;
        least = odds;
        best = k;
    }
    return best;
}

unsigned loop_filter_bits(unsigned hops, double odds) {
    for (unsigned bits = 8; bits <= 512; bits += 8)
        if (false_loop_odds(hops, bits, best_mask_bits(hops, bits)) <= odds) return bits;
    return 0;
}

}  // namespace posy::theory
