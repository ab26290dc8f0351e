// How often keys were seen: a Count-Min sketch (posy/count_min.hpp), in a table whose size does not depend on
// the number of keys.
//
//   posy::typed::counts<std::string> visits(0.0001, 0.01);  // error, and the share of keys that have more
//   visits.add(page);
//   visits.estimate(page);  // never too low, and at most 0.0001 · total() too high
//
// The rule is the conservative one by default, whose errors are several times smaller. Sketches of the plain
// rule depend on nothing but the keys: their union is the sketch of both streams, bit for bit.
//
// Thread safety: none; const calls may run together.
#pragma once

#include "posy/count_min.hpp"
#include "posy/typed/keyed.hpp"

namespace posy::typed {

template <>
struct blank<count_min> {
    static blank of(const count_min& c) {
        return {c.hash(), c.width(), c.depth(), c.rule(), c.counter_width()};
    }
    result<count_min> make() const { return count_min::make(hash, width, depth, rule, counters); }

    hasher hash;
    std::uint64_t width;
    unsigned depth;
    update_rule rule;
    counter_width counters;
};

result<count_min> make_counts(double epsilon, double delta, update_rule, const std::optional<hasher>&,
                              counter_width);

template <class Key>
class counts : public keyed<counts<Key>, Key, count_min> {
    using base = keyed<counts, Key, count_min>;

  public:
    using typename base::argument;

    // Estimates are at most epsilon · total() too high, except for a share delta of the keys. Throws if there
    // is no such table, or no memory for it. Counters of 32 bits, half the memory, stop at 4,294,967,295.
    counts(double epsilon, double delta, update_rule rule = update_rule::conservative,
           const std::optional<hasher>& hash = {}, counter_width counters = counter_width::bits_64)
        : counts(*make(epsilon, delta, rule, hash, counters)) {}
    explicit counts(count_min table) : base(std::move(table)) {}
    // The same, as a result.
    static result<counts> make(double epsilon, double delta, update_rule rule = update_rule::conservative,
                               const std::optional<hasher>& hash = {},
                               counter_width counters = counter_width::bits_64) {
        return base::from(make_counts(epsilon, delta, rule, hash, counters));
    }
    using base::make;

    // Counts the key and returns its new estimate.
    std::uint64_t add(argument key, std::uint64_t weight = 1) {
        return this->body().add(this->digest_of(key), weight);
    }
    // At least the sum of the weights that the key was added with.
    std::uint64_t estimate(argument key) const { return this->body().estimate(this->digest_of(key)); }

    // Many keys, each with weight 1; about twice as fast. estimate() needs as many estimates as keys.
    template <range_of_keys<Key> Range>
    void add(Range&& keys) {
        this->each_batch(keys, [&](auto batch, std::size_t) { this->body().add(batch); });
    }
    template <range_of_keys<Key> Range>
    void estimate(Range&& keys, std::span<std::uint64_t> estimates) const {
        this->each_batch(keys, [&](auto batch, std::size_t first) {
            this->body().estimate(batch, answers_of(estimates, first, batch.size()));
        });
    }

    // The sum of all weights.
    std::uint64_t total() const { return this->body().total(); }
    // epsilon · total(), with the epsilon of the table, which may be a little smaller.
    double error_bound() const { return this->body().error_bound(); }
    void clear() { this->body().clear(); }
};

}  // namespace posy::typed
