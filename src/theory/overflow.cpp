// How likely it is that a counting filter has a counter of at least j.
#include <algorithm>
#include <array>
#include <cmath>

#include "binomial.hpp"
#include "occupancy.hpp"
#include "posy/theory.hpp"

namespace posy::theory {
namespace {

constexpr unsigned line_words = 8;

// A counter goes wrong that is thrown at j times.
faults reached(unsigned j) { return faults(j, 0.0); }

// A line with x keys, each throwing ⌊k/8⌋ times at every word and once more at each of a random k mod 8 of
// them. Given its number of throws a word is independent of the others; the numbers are not, quite: what one
// word gets, seven others do not. Their covariance, −1/7 of the variance, is accounted for to second order.
double line_fault(double x, unsigned k, const std::vector<double>& word_fault) {
    const auto of_word = [&](double throws) {
        return throws < static_cast<double>(word_fault.size()) ? word_fault[static_cast<std::size_t>(throws)]
                                                               : 1;
    };
    const unsigned in_every_word = k / line_words;
    const double always = x * in_every_word, share = k % line_words / double(line_words);
    if (share == 0) return -std::expm1(line_words * std::log1p(-of_word(always)));
    const double mean = x * share, variance = mean * (1 - share), reach = 12 * std::sqrt(variance) + 60;
    double y = std::max(0.0, std::floor(mean - reach)), weight = binomial_weight(y, x, share);
    double fault = 0, slope = 0;
    for (; y <= std::min(x, mean + reach); ++y) {
        const double wrong = weight * of_word(always + y);
        fault += wrong;
        slope += wrong * (y - mean);
        weight *= (x - y) / (y + 1) * share / (1 - share);
    }
    if (fault >= 1) return 1;
    const double together = variance > 0 ? 4 * slope * slope / variance / (1 - fault) / (1 - fault) : 0;
    return std::min(line_words * fault, -std::expm1(line_words * std::log1p(-fault) - together));
}

}  // namespace

double overflow_probability(unsigned j, double n, double m, unsigned k) {
    if (j == 0) return 1;
    return any_fault(n * k, m, reached(j));
}

double blocked_overflow_probability(unsigned j, double n, double m, unsigned k, unsigned word_bits) {
    if (j == 0) return 1;
    const double bound = m * blocked_counter_tail(j, n, m, k, word_bits);
    if (bound < 1e-12) return bound;  // two at once are rarer by as much again
    const double lines = std::floor(m / (line_words * word_bits)), mean = n / lines;
    const double most = std::floor(line_words * word_bits * (j - 1.0) / k);  // keys that a line may have
    if (mean > most) return 1;
    if (bound / m * lines > 40) return 1;  // one given counter of every line is enough, but for e^-40
    // No line has more or fewer keys.
    const double reach = 12 * std::sqrt(mean) + 60, low = std::max(0.0, std::floor(mean - reach));
    const double high = std::min(most, std::floor(mean + reach));
    const double share = k % line_words / double(line_words);
    const auto stray = [&](double x) { return 12 * std::sqrt(x * share * (1 - share)) + 60; };
    const unsigned fewest_in_word = k / line_words, most_in_word = (k + line_words - 1) / line_words;
    const double fewest = std::max({0.0, low * fewest_in_word, low * k / line_words - stray(low)});
    const double throws = std::min(
        {word_bits * (j - 1.0), high * most_in_word, std::ceil(high * k / line_words + stray(high))});
    if (fewest > throws) return 1;
    const auto word_fault =
        any_fault_from(static_cast<unsigned>(fewest), static_cast<unsigned>(throws), word_bits, reached(j));
    faults line(static_cast<std::size_t>(high) + 1);
    for (double x = low; x <= high; ++x) line[static_cast<std::size_t>(x)] = line_fault(x, k, word_fault);
    return std::min(any_fault(n, lines, line), bound);
}

}  // namespace posy::theory
