// A Bloom filter of keys: the header to read first. It may say yes to a key that was never inserted, as
// rarely as it is told to, and never says no to one that was.
//
//   posy::filter<std::string> seen(1'000'000, 0.001);    // items, false-positive rate
//   seen.insert(name);
//   if (seen.may_contain(other)) …
//   seen.insert(names);                                  // any range of keys, several times as fast
//   seen.save("seen.posy");
//   auto again = posy::filter<std::string>::load("seen.posy");
//
// What can be a key is in posy/key.hpp: text, integers, pairs, your own types. It is hashed by the fastest
// family that is good enough for the rate; if somebody hostile chooses the keys, hand over a secret one
// (posy/secret_hash.hpp).
//
// The bits are those of a posy::bloom_filter, which untyped() shows: the same filter for programs that learn
// its shape only at run time. Because here the compiler knows the layout, a call is inlined, with the
// instructions that the program is compiled for (-march); the bits are the same with all of them. With Hashes
// 0 a filter has any number of hashes; the constructor chooses 8, the fastest, unless that would take much
// more memory.
//
// Thread safety: const calls from many threads; insert_concurrently() from many threads, together with itself
// and with may_contain(); any other change needs exclusion. A filter that was moved from is empty, and can be
// used.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "posy/algebra.hpp"
#include "posy/bloom_filter.hpp"
#include "posy/key_batches.hpp"
#include "posy/layout/inlined.hpp"
#include "posy/read_limits.hpp"
#include "posy/typed/files.hpp"

namespace posy {

namespace typed {
result<bloom_filter> make_filter(std::uint64_t items, double rate, layout_id, unsigned hashes,
                                 const std::optional<hasher>&);
result<void> check_shape(const geometry&, layout_id, unsigned hashes);
}  // namespace typed

template <class Key, layout_id Layout = layout_id::blocked, unsigned Hashes = 0>
class filter {
  public:
    using key_type = Key;
    using argument = key_argument<Key>;  // how a key is taken: text as std::string_view, integers as they are

    // Room for this many different keys at this false-positive rate. Throws if there is no such filter, or no
    // memory for it.
    filter(std::uint64_t items, double rate, const std::optional<hasher>& hash = {})
        : filter(*make(items, rate, hash)) {}
    // The same, as a result.
    static result<filter> make(std::uint64_t items, double rate, const std::optional<hasher>& hash = {}) {
        auto bits = typed::make_filter(items, rate, Layout, Hashes, hash);
        if (!bits) return bits.error();
        return filter(pointer(new bloom_filter(std::move(*bits))));
    }
    // A filter from elsewhere; an error if it is of another layout or number of hashes.
    static result<filter> make(bloom_filter bits) {
        if (auto fits = typed::check_shape(bits.geometry(), Layout, Hashes); !fits) return fits.error();
        return filter(pointer(new bloom_filter(std::move(bits))));
    }
    // The same without taking it: it must stay where it is, and keep its shape, while the view is used.
    static result<filter> view(bloom_filter& bits) {
        if (auto fits = typed::check_shape(bits.geometry(), Layout, Hashes); !fits) return fits.error();
        return filter(pointer(&bits, {.owned = false}));
    }

    // Files are messages (posy/message.hpp), which the tool reads, too. save() throws if it cannot be
    // written.
    static result<filter> load(const std::filesystem::path& path, const read_limits& limits = {}) {
        auto bits = typed::load_body<bloom_filter>(path, limits);
        if (!bits) return bits.error();
        auto loaded = make(std::move(*bits));
        if (!loaded) return loaded.error().behind(path.string());
        return loaded;
    }
    void save(const std::filesystem::path& path) const { typed::save_body(path, untyped()); }

    void insert(argument key) {
        if (!direct_) [[unlikely]]
            return self().insert(hash_key(hash_, key));
        place_.insert(words_, quick_digest(key));
        filter_->count_insertions(1);
    }
    bool may_contain(argument key) const {
        if (!direct_) [[unlikely]]
            return filter_ && filter_->may_contain(hash_key(hash_, key));
        return place_.may_contain(words_, quick_digest(key));
    }

    // Several keys in braces; not one text between two pointers.
    void insert(std::initializer_list<std::remove_cvref_t<argument>> keys) {
        for (const auto& key : keys) insert(argument(key));
    }
    bool may_contain(std::initializer_list<std::remove_cvref_t<argument>>) const = delete;
    // A number with a fraction is no integer.
    void insert(mistaken_integer<Key> auto) = delete;
    bool may_contain(mistaken_integer<Key> auto) const = delete;

    // Many keys. may_contain() writes one answer per key and returns how many were yes; it needs as many
    // answers as keys.
    template <range_of_keys<Key> Range>
    void insert(Range&& keys) {
        for_each_batch<Key>(hash_, keys, [&](auto batch, std::size_t) { self().insert(batch); });
    }
    template <range_of_keys<Key> Range>
    std::size_t may_contain(Range&& keys, std::span<bool> answers) const {
        std::size_t yes = 0;
        for_each_batch<Key>(hash_, keys, [&](auto batch, std::size_t first) {
            yes += self().may_contain(batch, answers_of(answers, first, batch.size()));
        });
        return yes;
    }
    void insert_concurrently(argument key) {
        const digest d = hash_key(hash_, key);
        self().insert_concurrently(std::span(&d, 1));
    }
    template <range_of_keys<Key> Range>
    void insert_concurrently(Range&& keys) {
        for_each_batch_of_digests<Key>(hash_, keys,
                                       [&](auto batch, std::size_t) { self().insert_concurrently(batch); });
    }

    // Insertions, repeated keys counted again; nothing if that is not known (an intersection).
    // estimate_items() of untyped() estimates how many different keys there are.
    std::optional<std::uint64_t> items() const { return self().items(); }
    // Of the bits as they are.
    double false_positive_rate() const { return self().false_positive_rate(); }
    std::uint64_t bytes() const { return self().bits().words().size_bytes(); }
    void clear() { self().clear(); }

    const bloom_filter& untyped() const { return self(); }
    operator const bloom_filter&() const { return self(); }

    filter(const filter& other) : filter(pointer(new bloom_filter(*other.self().clone()))) {}
    filter& operator=(const filter& other) {
        *this = filter(other);
        return *this;
    }
    filter(filter&& other) noexcept
        : filter_(std::move(other.filter_)),
          hash_(other.hash_),
          place_(other.place_),
          words_(other.words_),
          salt_(other.salt_),
          direct_(std::exchange(other.direct_, false)),
          geometry_(other.geometry_),
          planned_(other.planned_) {}
    filter& operator=(filter&& other) noexcept {
        if (this == &other) return *this;
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
        return *this;
    }
    ~filter() = default;

    friend bool operator==(const filter& a, const filter& b) { return a.self() == b.self(); }
    // into := into ∪ from, or ∩ (posy/algebra.hpp). An error if their sizes or hashes differ.
    friend result<void> unite(filter& into, const filter& from) {
        return posy::unite(into.self(), from.self());
    }
    friend result<void> intersect(filter& into, const filter& from) {
        return posy::intersect(into.self(), from.self());
    }

  private:
    struct give_back {
        bool owned = true;
        void operator()(bloom_filter* bits) const {
            if (owned) delete bits;
        }
    };
    using pointer = std::unique_ptr<bloom_filter, give_back>;

    explicit filter(pointer bits)
        : filter_(std::move(bits)),
          hash_(filter_->hash()),
          place_(filter_->geometry()),
          words_(filter_->bits().words().data()),
          salt_(hash::fold64_salt(hash_.seed().low)),
          direct_(hash_.family() == hash_family::fold64 && place_.fits(filter_->geometry())),
          geometry_(filter_->geometry()),
          planned_(filter_->provenance().planned) {}

    // The digest of fold64.
    digest quick_digest(argument key) const {
        return keys::with_bytes(key, [&](auto bytes) {
            if constexpr (std::integral<decltype(bytes)>)
                return hash::fold64_of_word(bytes, salt_);
            else
                return hash::fold64_of_bytes(bytes, hash_.seed().low);
        });
    }
    // The bits; new ones, if they were moved away.
    bloom_filter& self() const {
        if (!filter_) [[unlikely]] {
            auto bits = *bloom_filter::make(geometry_);
            bits.set_planned(planned_);
            auto& me = const_cast<filter&>(*this);
            me = filter(pointer(new bloom_filter(std::move(bits))));
        }
        return *filter_;
    }

    pointer filter_;  // null after a move
    hasher hash_;
    layouts::inlined<Layout, Hashes> place_;
    std::uint64_t* words_;
    base::apart64 salt_;
    bool direct_;  // a call can be inlined: there are bits, their hash is fold64, and place_ fits
    geometry geometry_;
    std::optional<promise> planned_;
};

}  // namespace posy
