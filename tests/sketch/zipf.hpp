// Zipf's law: key k of n with probability proportional to k^−s. By rejection-inversion (Hörmann and
// Derflinger 1996): exact, no tables, and the first draw is nearly always taken.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace posy {

class zipf {
  public:
    // Precondition: s is not 1.
    zipf(double s, std::uint64_t keys)
        : s_(s), keys_(static_cast<double>(keys)), first_(area(1.5) - 1), last_(area(keys_ + 0.5)) {}

    template <class Random>
    std::uint64_t operator()(Random& random) const {
        for (;;) {
            const double u = last_ + static_cast<double>(random() >> 11) * 0x1p-53 * (first_ - last_);
            const double k = std::clamp(std::round(area_inverse(u)), 1.0, keys_);
            if (u >= area(k + 0.5) - std::pow(k, -s_)) return static_cast<std::uint64_t>(k);
        }
    }

  private:
    double area(double x) const { return std::expm1((1 - s_) * std::log(x)) / (1 - s_); }
    double area_inverse(double a) const { return std::exp(std::log1p((1 - s_) * a) / (1 - s_)); }

    double s_, keys_, first_, last_;
};

// A stream of the keys 1 … keys and how often each came; truth[0] is 0.
struct stream {
    std::vector<std::uint64_t> items;
    std::vector<std::uint32_t> truth;

    stream(double s, std::uint64_t keys, std::size_t length, std::uint64_t seed) : truth(keys + 1) {
        const zipf draw(s, keys);
        std::mt19937_64 random(seed);
        items.reserve(length);
        for (std::size_t i = 0; i < length; ++i) {
            items.push_back(draw(random));
            ++truth[items.back()];
        }
    }
};

}  // namespace posy
