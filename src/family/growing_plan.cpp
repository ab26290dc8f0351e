#include "family/growing_plan.hpp"

#include <algorithm>
#include <utility>

#include "family/rate_deviation.hpp"
#include "layout/all.hpp"

namespace posy::growing {
namespace {

// An array is full when it could only just be folded by this.
constexpr std::uint64_t least_fold = 6;

std::vector<std::uint64_t> divisors_of(std::uint64_t n) {
    std::vector<std::uint64_t> low, high;
    for (std::uint64_t d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        low.push_back(d);
        if (d * d != n) high.push_back(n / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

// The rate that `items` keys will hardly exceed in an array folded by this divisor: the expected rate plus
// three standard deviations. So how far to fold depends on the number of keys and not on chance, and a
// forecast can predict it. Above `enough` the expected rate is used.
double sure_rate(geometry g, double items, std::uint64_t divisor, double enough) {
    g.bits /= divisor;
    const double expected = expected_rate(g, items);
    return expected > enough ? expected : expected + 3 * rate_deviation(g, items);
}

// The divisors to consider, with their sure rates: those at which the keys have at most `rate` and not far
// less; and 1.
std::vector<std::pair<std::uint64_t, double>> useful_folds(const geometry& g, double items, double rate) {
    const auto divisors = divisors_of(g.bits / smallest_array(g));
    auto at = std::ranges::partition_point(
        divisors, [&](std::uint64_t divisor) { return sure_rate(g, items, divisor, rate) <= rate; });
    std::vector<std::pair<std::uint64_t, double>> useful;
    for (double alone = rate; at != divisors.begin() && alone > 1e-3 * rate;) {
        alone = sure_rate(g, items, *--at, rate);
        useful.emplace_back(*at, alone);
    }
    if (useful.empty() || useful.back().first != 1) useful.emplace_back(1, sure_rate(g, items, 1, 1));
    return useful;
}

}  // namespace

std::uint64_t smallest_array(const geometry& g) {
    return std::max<std::uint64_t>(round_up_bits(1, g.hashes, g.layout),
                                   8 * (g.layout == layout_id::sliced ? g.hashes : 1));
}

double expected_rate(const geometry& g, double items) {
    return layouts::with_layout(g, [&]<class Layout>(const Layout&) {
        return Layout::expected_rate(items, static_cast<double>(g.bits), g.hashes);
    });
}

// A twentieth of the rate is left for the first keys of the next array: with one key more than this, the
// filter ends up a few lines larger, not a sixth.
std::uint64_t capacity(const geometry& g, double rate) {
    std::uint64_t low = 1, high = g.bits;
    while (low + 1 < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        (sure_rate(g, static_cast<double>(middle), least_fold, rate) <= 0.95 * rate ? low : high) = middle;
    }
    return low;
}

void add_load(std::vector<load>& loads, const geometry& g, double came) {
    double passed = came;
    for (const load& older : loads) passed *= 1 - expected_rate(older.geometry, older.items);
    loads.push_back({g, passed});
}

std::vector<std::uint64_t> choose_folds(std::span<const load> arrays, double rate) {
    struct choice {
        double rate = 0;
        std::uint64_t bits = 0;
        std::vector<std::uint64_t> divisors;
    };
    std::vector<choice> best(1);
    for (const auto& [g, items] : arrays) {
        std::vector<choice> all;
        for (const auto& [divisor, alone] : useful_folds(g, items, rate)) {
            for (const choice& before : best) {
                choice next{together(before.rate, alone), before.bits + g.bits / divisor, before.divisors};
                next.divisors.push_back(divisor);
                if (next.rate <= rate || divisor == 1) all.push_back(std::move(next));
            }
        }
        std::ranges::sort(all, {}, [](const choice& c) { return std::pair(c.rate, c.bits); });
        best.clear();
        for (choice& next : all)
            if (best.empty() || next.bits < best.back().bits) best.push_back(std::move(next));
    }
    const auto fits = [&](const choice& c) { return c.rate <= rate; };
    const auto last = std::ranges::find_if_not(best, fits);
    return last == best.begin() ? best.front().divisors : std::prev(last)->divisors;
}

}  // namespace posy::growing
