// The blocked layout's rate: a mixture, over the load of a line, of the probability that a line with x keys
// covers all bits of a query.
//
// That probability follows the words of the query from key to key. A word holds one or two queried bits (k ≤
// 16), and words are alike, so the state is just (words with one bit uncovered, words with two); covered
// words need no attention. Inclusion and exclusion would be shorter to write, but alternates in sign and
// loses a rate of 1e-9 in its own rounding; here every term is positive. One table of 4097 probabilities per
// k and word size, made at first use; its first 256, which is all that most filters need, on their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "binomial.hpp"
#include "posy/theory.hpp"

namespace posy::theory {
namespace {

constexpr unsigned words = 8, max_hashes = 16, max_load = 4096, usual_load = 255;

// A distribution over the states; state (ones, twos) has the place 9·ones + twos.
using states = std::array<double, (words + 1) * (words + 1)>;
constexpr unsigned state(unsigned ones, unsigned twos) { return ones * (words + 1) + twos; }

// A line and its hashes: k of them over words of this many bits.
struct shape {
    unsigned k, word_bits;

    // P(draws positions of a word all avoid `bits` given ones). Small powers of n/64: exact.
    double avoid(unsigned bits, unsigned draws) const {
        return std::pow((word_bits - bits) / double(word_bits), draws);
    }
};

// Where one key takes the state (ones, twos). Words are visited in turn; the subset of those with one draw
// more is dealt out on the way: with `spare` extras for `left` words, the next word gets one with odds spare
// : left.
states after_key(unsigned ones, unsigned twos, const shape& line) {
    struct chances {
        double one, two;  // that the draws of a word avoid one given bit, or two
    };
    const auto with = [&](unsigned draws) { return chances{line.avoid(1, draws), line.avoid(2, draws)}; };
    const std::array<chances, 2> avoid{with(line.k / words), with(line.k / words + 1)};  // by extra draws
    std::array<states, words> now{};  // by extras still to deal, and the state of the words seen so far
    now[line.k % words][state(0, 0)] = 1;
    for (unsigned word = 0; word < ones + twos; ++word) {
        const double left = words - word;
        std::array<states, words> next{};
        for (unsigned spare = 0; spare < words; ++spare) {
            for (unsigned place = 0; place < now[spare].size(); ++place) {
                if (now[spare][place] == 0) continue;
                for (unsigned extra = 0; extra <= std::min(spare, 1U); ++extra) {
                    const double p = now[spare][place] * (extra != 0 ? spare : left - spare) / left;
                    if (p == 0) continue;
                    const auto [one, two] = avoid[extra];
                    states& to = next[spare - extra];
                    if (word < ones) {
                        to[place + state(1, 0)] += p * one;
                        to[place] += p * (1 - one);
                    } else {
                        to[place + state(0, 1)] += p * two;
                        to[place + state(1, 0)] += p * 2 * (one - two);
                        to[place] += p * (1 - 2 * one + two);
                    }
                }
            }
        }
        now = next;
    }
    states result{};
    for (const states& part : now) {
        for (unsigned place = 0; place < part.size(); ++place) result[place] += part[place];
    }
    return result;
}

// The state a query starts in: two draws in a word make one queried bit if they meet, else two.
states fresh_query(const shape& line) {
    const unsigned k = line.k;
    const unsigned twice = k <= words ? 0 : k - words, once = k <= words ? k : words - twice;
    states result{};
    for (unsigned twos = 0; twos <= twice; ++twos) {
        result[state(once + twice - twos, twos)] = binomial_weight(twos, twice, 1 - 1.0 / line.word_bits);
    }
    return result;
}

struct step {
    unsigned from, to;
    double p;
};

// P(hit | x keys in the line), x = 0..most.
std::vector<double> tabulate_hits(const shape& line, unsigned most) {
    // A query never gets into other states: up to eight hashes have a word each, which leaves 9 of the 45.
    const unsigned queried = std::min(line.k, words), most_twos = line.k - queried;
    std::vector<step> steps;
    for (unsigned ones = 0; ones <= queried; ++ones) {
        for (unsigned twos = 0; twos <= std::min(most_twos, queried - ones); ++twos) {
            const states to = after_key(ones, twos, line);
            for (unsigned place = 0; place < to.size(); ++place) {
                if (to[place] > 0) steps.push_back({state(ones, twos), place, to[place]});
            }
        }
    }
    const states start = fresh_query(line);
    states covered{};  // by state: P(x keys cover all of it)
    covered[state(0, 0)] = 1;
    std::vector<double> hits(most + 1);
    for (double& hit : hits) {
        for (unsigned place = 0; place < start.size(); ++place) hit += start[place] * covered[place];
        states next{};
        for (const step& s : steps) next[s.from] += s.p * covered[s.to];
        covered = next;
    }
    return hits;
}

// Beyond the table a line is all but full, and the power of the mean fill will do for the mean of the power.
double nearly_full(double n, double lines, const shape& line) {
    const double line_bits = words * line.word_bits;
    const double set = 1 - line.avoid(1, line.k / words) * (1 - line.k % words / line_bits);  // a given bit
    return std::pow(-std::expm1(n * std::log1p(-set / lines)), line.k);
}

double hit_probability(double load, const shape& line) {
    struct table {
        std::once_flag made;
        std::vector<double> hits;
    };
    static std::array<std::array<std::array<table, max_hashes + 1>, 2>, 2> tables;
    if (load > max_load) return nearly_full(load, 1, line);
    table& t = tables[load > usual_load][line.word_bits == 64][line.k];
    std::call_once(t.made, [&] { t.hits = tabulate_hits(line, load > usual_load ? max_load : usual_load); });
    return t.hits[static_cast<std::size_t>(load)];
}

}  // namespace

double blocked_rate(double n, double m, unsigned k, unsigned word_bits) {
    if (k == 0 || k > max_hashes || (word_bits != 64 && word_bits != 16))
        return std::numeric_limits<double>::quiet_NaN();
    const shape line{k, word_bits};
    const double lines = std::floor(m / (words * word_bits)), mean = n / lines;
    if (lines <= 1) return hit_probability(n, line);
    if (mean > max_load) return nearly_full(n, lines, line);
    // Twelve deviations either way, and room for small means: hits grow like x^k at most, which moves the
    // weight of the sum up by k keys, not by sixty.
    const double reach = 12 * std::sqrt(mean) + 60;
    double rate = 0;
    const auto low = static_cast<unsigned>(std::max(1.0, mean - reach));
    const auto high = static_cast<unsigned>(std::min(n, mean + reach));
    for (unsigned x = low; x <= high; ++x) {
        rate += binomial_weight(x, n, 1 / lines) * hit_probability(x, line);
    }
    return rate;
}

}  // namespace posy::theory
