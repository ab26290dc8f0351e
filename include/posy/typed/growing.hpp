// A growing filter of keys: it keeps a rate for any number of them (posy/growing_filter.hpp).
//
//   posy::typed::growing<std::string> seen(0.01);    // false-positive rate
//   seen.insert(names);
//   seen.shrink();                                   // no more keys: as small as the rate allows
//   seen.save("seen.posy");
//
// It takes 61 MiB from the beginning, and more as it grows; it is small after shrink(). One that was moved
// from can grow again.
//
// Thread safety: none; const calls may run together.
#pragma once

#include "posy/growing_filter.hpp"
#include "posy/typed/keyed.hpp"

namespace posy::typed {

template <>
struct blank<growing_filter> {
    static blank of(const growing_filter&);
    result<growing_filter> make() const { return growing_filter::make(options); }

    growing_filter::options options;
};

result<growing_filter> make_growing(double rate, const std::optional<hasher>&);

template <class Key>
class growing : public keyed_set<growing<Key>, Key, growing_filter> {
    using base = keyed_set<growing, Key, growing_filter>;

  public:
    using typename base::argument;

    // Throws if there is no such filter, or no memory for it.
    explicit growing(double rate, const std::optional<hasher>& hash = {}) : growing(*make(rate, hash)) {}
    explicit growing(growing_filter filter) : base(std::move(filter)) {}
    // The same, as a result.
    static result<growing> make(double rate, const std::optional<hasher>& hash = {}) {
        return base::from(make_growing(rate, hash));
    }
    using base::make;

    // Throws if another array is due and there is no memory for it; the keys are inserted nevertheless, and
    // the rate will be exceeded. Throws after shrink(), and inserts nothing.
    void insert(argument key) { *this->body().insert(this->digest_of(key)); }
    template <range_of_keys<Key> Range>
    void insert(Range&& keys) {
        result<void> all;
        this->each_batch(keys, [&](auto batch, std::size_t) {
            if (auto done = this->body().insert(batch); !done) all = done;
        });
        *all;
    }

    // Makes it as small as the rate allows. From then on no keys can be inserted. Throws if there is no
    // memory for it.
    void shrink() { *this->body().shrink(); }
    bool shrunk() const { return this->body().shrunk(); }

    // Insertions, repeated keys counted again.
    std::uint64_t items() const { return this->body().items(); }
    // Of the bits as they are.
    double false_positive_rate() const { return this->body().false_positive_rate(); }
    std::uint64_t bytes() const { return this->body().bits() / 8; }
};

}  // namespace posy::typed
