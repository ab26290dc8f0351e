#include "posy/distinct_counter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/mix.hpp"

namespace posy {
namespace {

constexpr unsigned run_bits = 64 - distinct_counter::index_bits;

// Ertl 2017, section 2.3: what registers at 0 and at the highest value add to the sum, from their shares.
double from_empty(double share) {
    double sum = share, weight = 1, before;
    do {
        share *= share;
        before = sum;
        sum += share * weight;
        weight += weight;
    } while (sum != before);
    return sum;
}
double from_full(double rest) {
    if (rest == 0 || rest == 1) return 0;
    double sum = 1 - rest, weight = 1, before;
    do {
        rest = std::sqrt(rest);
        before = sum;
        weight /= 2;
        sum -= (1 - rest) * (1 - rest) * weight;
    } while (sum != before);
    return sum / 3;
}

}  // namespace

void distinct_counter::add(digest value) {
    // Families differ in how well they mix each half.
    take(base::mix(value.low ^ base::mix(value.high)));
}

void distinct_counter::take(std::uint64_t hash) {
    if (!registers_.empty()) return raise(hash);
    const auto at = std::ranges::lower_bound(hashes_, hash);
    if (at != hashes_.end() && *at == hash) return;
    hashes_.insert(at, hash);
    if (hashes_.size() > exact) raise_all();
}

void distinct_counter::raise_all() {
    registers_.resize(registers);
    for (const std::uint64_t each : hashes_) raise(each);
    hashes_ = {};
}

void distinct_counter::raise(std::uint64_t hash) {
    std::uint8_t& highest = registers_[hash >> run_bits];
    const auto run =
        std::min<unsigned>(run_bits, static_cast<unsigned>(std::countl_zero(hash << index_bits)));
    highest = std::max(highest, static_cast<std::uint8_t>(run + 1));
}

void distinct_counter::unite(const distinct_counter& from) {
    if (from.registers_.empty()) {
        if (&from != this) std::ranges::for_each(from.hashes_, [&](std::uint64_t each) { take(each); });
        return;
    }
    if (registers_.empty()) raise_all();
    std::ranges::transform(registers_, from.registers_, registers_.begin(), std::ranges::max);
}

result<distinct_counter> distinct_counter::of(std::span<const std::uint64_t> hashes,
                                              std::span<const std::uint8_t> highest_runs) {
    const bool sound = highest_runs.empty() ? hashes.size() <= exact &&
                                                  std::ranges::adjacent_find(
                                                      hashes, std::ranges::greater_equal()) == hashes.end()
                                            : hashes.empty() && highest_runs.size() == registers &&
                                                  std::ranges::max(highest_runs) <= run_bits + 1;
    if (!sound) return error::damaged("no counter of different values has these parts");
    distinct_counter made;
    made.hashes_.assign(hashes.begin(), hashes.end());
    made.registers_.assign(highest_runs.begin(), highest_runs.end());
    return made;
}

estimate distinct_counter::count() const {
    if (registers_.empty()) {
        const auto there = static_cast<double>(hashes_.size());
        return {there, there, there};
    }
    std::array<double, run_bits + 2> at{};
    for (const std::uint8_t each : registers_) ++at[each];
    constexpr double m = registers;
    double sum = m * from_full(1 - at[run_bits + 1] / m);
    for (unsigned value = run_bits; value > 0; --value) sum = (sum + at[value]) / 2;
    sum += m * from_empty(at[0] / m);
    const double value = m * m / (2 * std::numbers::ln2 * sum), spread = 1.96 * standard_error;
    return {value, std::floor(value / (1 + spread)), std::ceil(value / (1 - spread))};
}

}  // namespace posy
