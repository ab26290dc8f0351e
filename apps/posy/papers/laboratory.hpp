// The papers' experiments with real filters: real keys, a real hash, the real coder, many times over.
//
// A trial builds a filter of 10,000 integer keys under a seed of its own, sends it (or the change to its next
// generation) as a message, and asks it for keys it never saw. All observations are whole numbers and their
// sums are exact, so the outcome is the same on any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

namespace posy::tool::papers {

inline constexpr std::uint64_t items = 10'000;  // n, as in the papers

// Sums of a whole number observed in every trial.
class observed {
  public:
    void add(std::uint64_t value);
    void add(const observed& other);

    std::uint64_t count() const { return count_; }
    std::uint64_t sum() const { return sum_; }
    std::uint64_t least() const { return least_; }
    std::uint64_t most() const { return most_; }
    double mean() const;
    double deviation() const;       // of one observation
    double standard_error() const;  // of the mean

  private:
    std::uint64_t count_ = 0, sum_ = 0, squares_ = 0, least_ = ~std::uint64_t{0}, most_ = 0;
};

struct tally {
    observed payload;          // the coded bits with all that is needed to decode them, in bytes
    observed frame;            // the message around them: geometry, seed, length, checksum
    observed ones;             // of the array that was coded
    observed hits;             // yes to keys that were never inserted
    std::uint64_t bound = 0;   // log2 C(m, x), in 65536ths of a bit
    std::uint64_t checks = 0;  // messages that were read back and compared

    void add(const tally& other);
    double bound_bytes() const;  // its mean
};

// What an experiment is for decides how often it is done: the papers' own simulations in full, a column of a
// table or a point of a curve with a hundredth of the trials, a rate alone with a thousandth (and a hundred
// times the questions).
enum class purpose { simulation, column, rate };

class laboratory {
  public:
    explicit laboratory(std::uint64_t trials) : trials_(trials) {}

    // Asks for an experiment of m/n = `bits_per_item` and k = `hashes`; with a `change`, of the delta when
    // that fraction of the keys was replaced. Asking twice is asking once.
    void want(purpose, double bits_per_item, unsigned hashes, double change = 0);
    void run(unsigned threads);
    // Nothing if it was not asked for, or there are no trials.
    const tally* find(purpose, double bits_per_item, unsigned hashes, double change = 0) const;

    std::uint64_t trials(purpose = purpose::simulation) const;
    static std::uint64_t queries(purpose);

  private:
    using key = std::tuple<purpose, double, unsigned, double>;
    std::uint64_t trials_;
    std::map<key, tally> experiments_;
};

// A measured rate against the expected one, E[(X/m)^k] of the very array size.
struct rate_check {
    double measured = 0, expected = 0;
    double standard_error = 0;  // by theory: of the questions and of the filters' fill
    double sigmas() const { return (measured - expected) / standard_error; }
};
rate_check check_rate(const tally&, purpose, double bits_per_item, unsigned hashes);

}  // namespace posy::tool::papers
