// Stored responses in memory: by URL and variant, within a budget of bytes, evicted by S3-FIFO.
//
// Divided into shards by a hash of the URL, each with its own lock, queues and equal part of the budget;
// there are fewer than asked for when a shard would have less than least_shard, or an eighth of it would be
// less than the largest object that is wanted. An object above an eighth of
// its shard's budget is refused: one large object should not evict hundreds. At most most_variants of one URL
// are kept; one more drops the oldest.
// Cost per call: two hashes of the URL, one lock, and a comparison per variant of the URL.
// Invariant: the sizes of what is held never exceed the budget, shard by shard.
// Thread safety: every call from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/observer.hpp"
#include "posy/http_cache/stored_response.hpp"
#include "posy/secret_hash.hpp"

namespace posy::http_cache {

inline constexpr std::uint64_t least_shard = std::uint64_t{1} << 20;
inline constexpr std::uint64_t largest_object_divisor = 8;
inline constexpr std::size_t most_variants = 32;

struct memory_options {
    std::uint64_t bytes = std::uint64_t{256} << 20;
    unsigned shards = 8;
    std::uint64_t largest = 0;  // an object that put() should take, if the budget is eight times as large
};

class memory_store {
  public:
    // The observer, if any, outlives the store, and is not told when the store itself ends.
    explicit memory_store(memory_options = {}, observer* watching = nullptr);
    ~memory_store();

    // The newest variant of the URL that matches the request, or null. find() counts as an access, by which
    // eviction chooses; peek() does not.
    stored find(std::string_view url, const request_head&);
    stored peek(std::string_view url, const request_head&) const;
    bool has(std::string_view url) const;
    // The object that put() would replace, or null.
    stored same(const label&) const;

    // Replaces the same variant, if there is one. False when it is too large; the old one is removed
    // nevertheless, because it is outdated.
    bool put(stored);
    // The largest object that put() takes.
    std::uint64_t largest() const;
    // All variants. False when there was none.
    bool erase(std::string_view url);
    // This very object, if it is still here.
    void drop(const stored&);

    // Each URL once; each object. Calls are made under the lock of a shard: the same rules as for an
    // observer.
    void for_each_url(const std::function<void(std::string_view)>&) const;
    void for_each(const std::function<void(const stored_response&)>&) const;
    store_counts counts() const;

  private:
    struct shard;
    shard& shard_of(const hash::digested& url) const;
    shard& shard_of(std::string_view url) const;

    std::vector<std::unique_ptr<shard>> shards_;
};

}  // namespace posy::http_cache
