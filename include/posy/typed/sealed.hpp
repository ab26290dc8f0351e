// A sealed filter of keys: a set that does not change, in about two thirds of the memory of a Bloom filter
// (posy/sealed_filter.hpp).
//
//   posy::typed::sealed<std::string> words(list, 0.001);    // any range of keys, false-positive rate
//   if (words.may_contain(word)) …
//
// One that was moved from is the empty set.
//
// Cost: 16 bytes per key while it is made, besides the result. Thread safety: immutable; copies share the
// bytes.
#pragma once

#include "posy/sealed_filter.hpp"
#include "posy/typed/keyed.hpp"
#include "posy/typed/sealing.hpp"

namespace posy::typed {

template <>
struct blank<sealed_filter> {
    static blank of(const sealed_filter& f) { return {f.hash()}; }
    result<sealed_filter> make() const { return sealed_filter::make(hash, {}); }

    hasher hash;
};

template <class Key>
class sealed : public keyed_set<sealed<Key>, Key, sealed_filter, std::shared_ptr<sealed_filter>> {
    using base = keyed_set<sealed, Key, sealed_filter, std::shared_ptr<sealed_filter>>;

  public:
    // The set of these keys; repeated ones count once. The rate is 2^-32 or more. Throws if there is no such
    // filter, or no memory for it.
    template <range_of_keys<Key> Range>
    sealed(Range&& keys, double rate, const std::optional<hasher>& hash = {})
        : sealed(*make(keys, rate, hash)) {}
    explicit sealed(sealed_filter set) : base(std::move(set)) {}
    // The same, as a result.
    template <range_of_keys<Key> Range>
    static result<sealed> make(Range&& keys, double rate, const std::optional<hasher>& hash = {}) {
        const auto chosen = hasher_for(hash, size_hint(keys), rate);
        if (!chosen) return chosen.error();
        const auto digests = digests_of<Key>(*chosen, keys);
        if (!digests) return digests.error();
        return base::from(sealed_filter::make(*chosen, *digests, {.rate = rate}));
    }
    using base::make;

    // The number of different keys.
    std::uint64_t items() const { return this->body().items(); }
    double false_positive_rate() const { return this->body().false_positive_rate(); }
    // Of the whole, in memory and in a file; 0 of the empty set.
    double bits_per_key() const { return bits_per_item(this->body()); }
};

}  // namespace posy::typed
