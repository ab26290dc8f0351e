#include "posy/theory/traceback.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

// What a number of false yeses grows to when each brings `more` others, on average.
double with_followers(double branches, double more) {
    return more < 1 ? branches / (1 - more) : std::numeric_limits<double>::infinity();
}

}  // namespace

double false_branches(double path, double degree, double rate) {
    return with_followers((path * (degree - 2) + 2) * rate, (degree - 1) * rate);
}

double false_branches_bound(double path, double degree, double rate) {
    return with_followers(path * degree * rate, degree * rate);
}

double traceback_rate(double path, double degree, double branches) {
    return branches / (path * (degree - 2) + 2 + branches * (degree - 1));
}

double digest_bytes(double packets_per_second, double seconds, double rate) {
    return bloom_bits(packets_per_second * seconds, rate) / 8;
}

double page_bytes(double packets, double rate) {
    constexpr double block = 512;  // bits
    const auto rate_of = [&](double blocks) {
        double best = 1;
        for (unsigned k = 1; k <= 16; ++k) best = std::min(best, blocked_rate(packets, blocks * block, k));
        return best;
    };
    // A filter that chooses its bits in all of the array is smaller, so the search begins there.
    double low = 0, high = std::max(1.0, std::ceil(bloom_bits(packets, rate) / block));
    while (rate_of(high) > rate) low = high, high *= 2;
    while (high - low > 1) {
        const double middle = std::floor((low + high) / 2);
        (rate_of(middle) > rate ? low : high) = middle;
    }
    return high * block / 8;
}

double digest_share(double mean_packet_bytes, double rate) {
    return bloom_bits(1, rate) / 8 / mean_packet_bytes;
}

}  // namespace posy::theory
