// What counting filters, growing filters, maps … of keys have in common: a body, which sees digests, the
// hasher that makes them, and files.
//
// One that was moved from is empty, and can be used: its body is made again when it is next needed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "posy/key_batches.hpp"
#include "posy/read_limits.hpp"
#include "posy/typed/files.hpp"

namespace posy::typed {

// What an empty Body is made from: of(body) notes the dimensions of one, and make() makes another like it.
template <class Body>
struct blank;

// The hasher that is asked for, or an error if it is impossible; if none is, the fastest that is good enough
// for this many keys at this rate. Where nobody knows how many there will be, take many_keys.
result<hasher> hasher_for(const std::optional<hasher>& asked, double items, double rate);
inline constexpr double many_keys = 0x1p40;

// Self is the class that is derived from this.
template <class Self, class Key, class Body, class Holder = std::unique_ptr<Body>>
class keyed {
  public:
    using key_type = Key;
    using argument = key_argument<Key>;  // how a key is taken: text as std::string_view, integers as they are

    // One around a body from elsewhere.
    static result<Self> make(Body body) { return Self(std::move(body)); }

    // Files are messages (posy/message.hpp), which the tool reads, too. save() throws if it cannot be
    // written.
    static result<Self> load(const std::filesystem::path& path, const read_limits& limits = {}) {
        auto body = load_body<Body>(path, limits);
        if (!body) return body.error();
        auto loaded = Self::make(std::move(*body));
        if (!loaded) return loaded.error().behind(path.string());
        return loaded;
    }
    void save(const std::filesystem::path& path) const { save_body(path, untyped()); }

    const Body& untyped() const { return body(); }
    operator const Body&() const { return body(); }

  protected:
    explicit keyed(Body body)
        : hash_(body.hash()), blank_(blank<Body>::of(body)), body_(new Body(std::move(body))) {}
    static result<Self> from(result<Body> made) {
        if (!made) return made.error();
        return Self::make(std::move(*made));
    }

    Body& body() { return *held(); }
    const Body& body() const { return *held(); }

    digest digest_of(argument key) const { return hash_key(hash_, key); }

    // Calls use(batch, index of its first key) for all keys, in batches as the body takes them.
    template <class Range, class Use>
    void each_batch(Range&& keys, const Use& use) const {
        constexpr bool takes_text = requires(Body & any, std::span<const std::string_view> texts) {
            any.insert(texts);
        };
        if constexpr (takes_text) {
            for_each_batch<Key>(hash_, keys, use);
        } else {
            for_each_batch_of_digests<Key>(hash_, keys, use);
        }
    }
    // The sum of what use() returns.
    template <class Range, class Use>
    std::size_t sum_of_batches(Range&& keys, const Use& use) const {
        std::size_t sum = 0;
        each_batch(keys, [&](auto batch, std::size_t first) { sum += use(batch, first); });
        return sum;
    }

  private:
    Holder& held() const {
        if (!body_) [[unlikely]]
            body_.reset(new Body(*blank_.make()));
        return body_;
    }

    hasher hash_;
    blank<Body> blank_;
    mutable Holder body_;  // null after a move
};

// One whose body answers may_contain().
template <class Self, class Key, class Body, class Holder = std::unique_ptr<Body>>
class keyed_set : public keyed<Self, Key, Body, Holder> {
  public:
    bool may_contain(key_argument<Key> key) const { return this->body().may_contain(this->digest_of(key)); }
    // Many keys: one answer for each; returns how many were yes. It needs as many answers as keys.
    template <range_of_keys<Key> Range>
    std::size_t may_contain(Range&& keys, std::span<bool> answers) const {
        return this->sum_of_batches(keys, [&](auto batch, std::size_t first) {
            return this->body().may_contain(batch, answers_of(answers, first, batch.size()));
        });
    }

  protected:
    using keyed<Self, Key, Body, Holder>::keyed;
};

}  // namespace posy::typed
