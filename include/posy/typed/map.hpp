// A Bloomier map of keys: a value for each key, without the keys; it does not change
// (posy/bloomier_map.hpp).
//
//   posy::typed::map<std::string, country> origin(list, 0.001);    // any range of pairs, e.g. a std::map
//   if (auto from = origin.find(name)) …
//
// find() returns the value of a key that is there. Of other keys, a share, the rate, gets an arbitrary value,
// which need not be one of the list; all others get nothing.
//
// A value is an integer, an enumeration or a bool. All take as many bits as the largest needs, and a negative
// one needs all bits of its type, so load a map with the type of value that it was made with. The hash is
// xxh3 by default, because two keys with the same digest and different values would make a map impossible.
//
// One that was moved from has no keys.
//
// Cost: 24 bytes per key while it is made, besides the result. Thread safety: immutable; copies share the
// bytes.
#pragma once

#include <array>

#include "posy/bloomier_map.hpp"
#include "posy/typed/sealing.hpp"

namespace posy::typed {

template <class Range, class Key, class Value>
concept range_of_pairs = std::ranges::input_range<Range> &&
    requires(std::ranges::range_reference_t<Range> pair) {
    { std::get<0>(pair) } -> std::convertible_to<key_argument<Key>>;
    { std::get<1>(pair) } -> std::convertible_to<Value>;
};

template <>
struct blank<bloomier_map> {
    static blank of(const bloomier_map& m) { return {m.hash(), m.value_bits()}; }
    result<bloomier_map> make() const { return bloomier_map::make(hash, {}, {}, {.value_bits = value_bits}); }

    hasher hash;
    unsigned value_bits;
};

// Values as a map stores them.
template <keys::integer Value>
struct stored {
    static constexpr unsigned width = std::same_as<Value, bool> ? 1 : 8 * sizeof(Value);

    static std::uint64_t bits_of(Value value) {
        return static_cast<std::uint64_t>(value) & ~std::uint64_t{0} >> (64 - width);
    }
    static std::optional<Value> value_of(std::optional<std::uint64_t> bits) {
        return bits ? std::optional(static_cast<Value>(*bits)) : std::nullopt;
    }
};

struct pairs_to_store {
    std::vector<digest> digests{};
    std::vector<std::uint64_t> values{};
};
result<bloomier_map> make_map(const hasher&, const pairs_to_store&, double rate);
// Are its values at most this wide?
result<void> check_values(const bloomier_map&, unsigned width);

template <class Key, keys::integer Value>
class map : public keyed<map<Key, Value>, Key, bloomier_map, std::shared_ptr<bloomier_map>> {
    using base = keyed<map, Key, bloomier_map, std::shared_ptr<bloomier_map>>;

  public:
    using typename base::argument;
    using mapped_type = Value;

    // The map of these pairs of key and value. A pair may be repeated; a key with two values is an error. The
    // rate is 2^-32 to 1; at 1 every absent key has a value. Throws if there is no such map, or no memory for
    // it.
    template <range_of_pairs<Key, Value> Range>
    map(Range&& pairs, double rate, const std::optional<hasher>& hash = {}) : map(*make(pairs, rate, hash)) {}
    // The same, as a result.
    template <range_of_pairs<Key, Value> Range>
    static result<map> make(Range&& pairs, double rate, const std::optional<hasher>& hash = {}) {
        const auto chosen = hasher_for(hash.value_or(hasher(hash_family::xxh3)), size_hint(pairs), rate);
        if (!chosen) return chosen.error();
        const auto all = within_memory([&] { return collect(*chosen, pairs); });
        if (!all) return all.error();
        return base::from(make_map(*chosen, *all, rate));
    }
    // A map from elsewhere; an error if its values are wider than a Value.
    static result<map> make(bloomier_map from) {
        if (auto fits = check_values(from, stored<Value>::width); !fits) return fits.error();
        return map(std::move(from));
    }

    std::optional<Value> find(argument key) const {
        return stored<Value>::value_of(this->body().find(this->digest_of(key)));
    }
    // Many keys: one answer for each; returns how many have a value. It needs as many answers as keys.
    template <range_of_keys<Key> Range>
    std::size_t find(Range&& keys, std::span<std::optional<Value>> answers) const {
        std::array<std::optional<std::uint64_t>, keys::batch_size> found;
        return this->sum_of_batches(keys, [&](auto batch, std::size_t first) {
            const std::size_t count = this->body().find(batch, std::span(found).first(batch.size()));
            const auto places = answers_of(answers, first, batch.size());
            for (std::size_t i = 0; i < batch.size(); ++i) places[i] = stored<Value>::value_of(found[i]);
            return count;
        });
    }

    // The number of different keys.
    std::uint64_t items() const { return this->body().items(); }
    // The share of absent keys that get a value.
    double false_positive_rate() const { return this->body().false_positive_rate(); }
    // Of the whole, in memory and in a file; 0 of a map without keys.
    double bits_per_key() const { return bits_per_item(this->body()); }

  private:
    explicit map(bloomier_map from) : base(std::move(from)) {}

    template <class Range>
    static pairs_to_store collect(const hasher& hash, Range&& pairs) {
        pairs_to_store all;
        for (auto&& pair : pairs) {
            all.digests.push_back(hash_key(hash, static_cast<argument>(std::get<0>(pair))));
            all.values.push_back(stored<Value>::bits_of(std::get<1>(pair)));
        }
        return all;
    }
};

}  // namespace posy::typed
