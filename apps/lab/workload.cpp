#include "workload.hpp"

#include <algorithm>
#include <cmath>

#include "posy/digest.hpp"

namespace posy::lab {

namespace {

constexpr double size_spread = 1.3;   // σ of the logarithm of a size: the mean is 2.3 times the median
constexpr double crowd_spread = 0.5;  // σ of the logarithm of a proxy's share of the requests

double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

// A normal deviate from the digest of a number, by Box and Muller.
double normal_of(std::uint64_t number, std::uint64_t seed) {
    const digest d = hasher(hash_family::xxh3, {seed, 0})(number);
    return std::sqrt(-2 * std::log(unit(d.low))) * std::cos(2 * 3.141592653589793 * unit(d.high));
}

}  // namespace

zipf_ranks::zipf_ranks(std::uint64_t count, double exponent) : count_(count), exponent_(exponent) {
    first_ = integral(1.5) - 1;
    last_ = integral(static_cast<double>(count_) + 0.5);
    near_ = 2 - inverse(integral(2.5) - std::pow(2.0, -exponent_));
}

double zipf_ranks::integral(double x) const {
    const double s = 1 - exponent_, log_x = std::log(x);
    return std::abs(s) < 1e-9 ? log_x : std::expm1(s * log_x) / s;
}

double zipf_ranks::inverse(double y) const {
    const double s = 1 - exponent_;
    return std::exp(std::abs(s) < 1e-9 ? y : std::log1p(std::max(s * y, -1.0)) / s);
}

made_up_workload::made_up_workload(const made_up& how, std::uint32_t proxies)
    : how_(how),
      proxies_(proxies),
      own_(std::max<std::uint64_t>(1, how.objects / proxies)),
      shared_ranks_(how.objects, how.zipf),
      own_ranks_(own_, how.zipf),
      random_(how.seed) {
    double all = 0;
    for (std::uint32_t i = 0; i < proxies; ++i)
        busy_.push_back(all += std::exp(crowd_spread * normal_of(i, how.seed + 1)));
}

std::optional<trace::item> made_up_workload::next() {
    if (made_ == how_.requests) return std::nullopt;
    ++made_;
    std::uniform_real_distribution<> any;
    const auto at = std::ranges::upper_bound(busy_, any(random_) * busy_.back());
    const auto proxy =
        std::min(static_cast<std::uint32_t>(at - busy_.begin()), static_cast<std::uint32_t>(proxies_ - 1));
    const auto object = any(random_) < how_.local ? how_.objects + own_ * proxy + own_ranks_(random_)
                                                  : shared_ranks_(random_);
    return trace::item{proxy, static_cast<std::uint32_t>(object)};
}

std::uint64_t made_up_workload::bytes_of(std::uint32_t object) const {
    const double median = how_.mean_bytes / std::exp(size_spread * size_spread / 2);
    return static_cast<std::uint64_t>(median * std::exp(size_spread * normal_of(object, how_.seed)));
}

}  // namespace posy::lab
