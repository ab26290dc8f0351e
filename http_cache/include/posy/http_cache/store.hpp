// The two tiers as one: memory in front of an optional disk.
//
// memory.bytes is all that objects take, wherever they are: an eighth of it is for those on their way, which
// are collected within room(), and for those that were evicted and are still being sent; with a disk a
// quarter is for its index; the rest is the memory store's. The caller of put() has collected the object in
// the room().
//
// What is put goes to both; what is found on disk comes back into memory. The observer hears of the union: a
// URL has entered when it is in either tier, and left when it is in neither.
// Cost: without a disk, the memory store's. With one, a find that misses in memory may read a file, and a put
// writes one: both block, so an event loop asks memory() first and does the rest on another thread.
// Thread safety: every call from any thread. Changes to one URL are made one after the other in both tiers.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "posy/http_cache/disk_store.hpp"
#include "posy/http_cache/memory_store.hpp"

namespace posy::http_cache {

struct store_options {
    memory_options memory{};
    std::optional<disk_options> disk{};
};

class store {
  public:
    static result<std::unique_ptr<store>> open(const store_options&, observer* watching = nullptr);
    ~store();

    // Memory only: never blocks on a file. For event loops: memory().find() first, find() elsewhere.
    memory_store& memory();
    // Where bodies are collected: as much as all objects may take together.
    const std::shared_ptr<http_cache::room>& room() const;
    // The largest object that either tier takes.
    std::uint64_t largest() const;
    bool has_disk() const;

    stored find(std::string_view url, const request_head&);
    bool has(std::string_view url) const;
    // False when neither tier took it. A disk that cannot be written is a tier that did not take it.
    bool put(const stored&);
    bool erase(std::string_view url);

    // Each URL of the union once.
    void for_each_url(const std::function<void(std::string_view)>&) const;
    store_counts memory_counts() const;
    std::optional<store_counts> disk_counts() const;

  private:
    struct tiers;
    explicit store(std::unique_ptr<tiers>);
    std::unique_ptr<tiers> tiers_;
};

}  // namespace posy::http_cache
