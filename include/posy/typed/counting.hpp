// A counting filter of keys: a set from which keys can be removed again (posy/counting_filter.hpp).
//
//   posy::typed::counting<std::string> cached(1'000'000, 0.01);    // items at any one time, rate
//   cached.insert(url);
//   cached.remove(url);
//
// Remove only what was inserted: a key that was not, but looks as if it were, takes others with it.
//
// Counters have 4 bits, and those of a key are in one cache line (layout narrow), as long as that takes at
// most half as much memory again as layout blocked.
//
// Thread safety: none; const calls may run together.
#pragma once

#include "posy/counting_filter.hpp"
#include "posy/typed/keyed.hpp"

namespace posy::typed {

template <>
struct blank<counting_filter> {
    static blank of(const counting_filter& f) {
        return {f.geometry(), f.counters().width(), f.provenance().planned};
    }
    result<counting_filter> make() const;

    posy::geometry geometry;
    unsigned counter_bits;
    std::optional<promise> planned;
};

result<counting_filter> make_counting(std::uint64_t items, double rate, const std::optional<hasher>&);

template <class Key>
class counting : public keyed_set<counting<Key>, Key, counting_filter> {
    using base = keyed_set<counting, Key, counting_filter>;

  public:
    using typename base::argument;

    // Room for this many different keys at this false-positive rate. Throws if there is no such filter, or no
    // memory for it.
    counting(std::uint64_t items, double rate, const std::optional<hasher>& hash = {})
        : counting(*make(items, rate, hash)) {}
    explicit counting(counting_filter counters) : base(std::move(counters)) {}
    // The same, as a result.
    static result<counting> make(std::uint64_t items, double rate, const std::optional<hasher>& hash = {}) {
        return base::from(make_counting(items, rate, hash));
    }
    using base::make;

    void insert(argument key) { this->body().insert(this->digest_of(key)); }
    // False if the key is certainly absent; then nothing has changed.
    bool remove(argument key) { return this->body().remove(this->digest_of(key)); }

    // Many keys, several times as fast. remove() writes whether each was there, and returns how many were; it
    // needs as many answers as keys.
    template <range_of_keys<Key> Range>
    void insert(Range&& keys) {
        this->each_batch(keys, [&](auto batch, std::size_t) { this->body().insert(batch); });
    }
    template <range_of_keys<Key> Range>
    std::size_t remove(Range&& keys, std::span<bool> removed) {
        return this->sum_of_batches(keys, [&](auto batch, std::size_t first) {
            return this->body().remove(batch, answers_of(removed, first, batch.size()));
        });
    }

    // Insertions less removals.
    std::uint64_t items() const { return this->body().items(); }
    // Of the bits as they are.
    double false_positive_rate() const { return this->body().projection().false_positive_rate(); }
    void clear() { this->body().clear(); }
};

}  // namespace posy::typed
