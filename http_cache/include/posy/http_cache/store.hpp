// The two tiers as one: memory in front of an optional disk. The newest answer wins, always.
//
// memory.bytes is the memory of all objects, in any state. An eighth of it is for objects that are arriving,
// which are collected within room(), and for those that were evicted and are still being sent. With a disk, a
// quarter is for its index. The rest is the memory store's. An object that is put has been collected in the
// room().
//
// A change of a URL is made at once in memory and noted for the disk, both under one short lock, so that all
// changes of a URL have one order; settle() brings the disk up to date with what is noted. Until then the
// notes come before the disk: find() reads no file that is outdated, and puts nothing back into memory that
// was replaced or erased while the file was read. What cannot be noted because too much waits already is not
// written, but the file that it replaces is removed. An object that comes after a newer one (by_news()), or
// that was asked for before its URL was erased, is refused. Of two different ones of which nobody can say
// which is newer, neither is kept.
//
// Partial responses (partial.hpp) are kept in memory only, among the others, and give way to a whole answer
// of their URL and variant. What is said of URLs below does not mean them, except that erasing a URL erases
// them.
//
// The observer sees the union: a URL has entered when it is in either tier or waits to be written,
// and left when it is nowhere.
// Cost: without a disk, the memory store's and a lock. With one, find() may read a file and settle() writes
// some: both block, so an event loop asks find_in_memory() first and does the rest on another thread. Notes
// hold an eighth of the memory at most. Thread safety: every call from any thread.
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

// The largest object that a store of these bytes can be made to take, by asking for it in memory.largest.
std::uint64_t largest_possible(const store_options&);
// About how many files the index of the disk has room for, if their URLs have 64 characters; 0 without a
// disk.
std::uint64_t most_files(const store_options&);

class store {
  public:
    static result<std::unique_ptr<store>> open(const store_options&, observer* watching = nullptr);
    ~store();  // settles what is noted

    // Where bodies are collected: as much as all objects may take together.
    const std::shared_ptr<http_cache::room>& room() const;
    // The largest object that either tier takes.
    std::uint64_t largest() const;
    // The largest that is stored even if the disk fails.
    std::uint64_t largest_in_memory() const;
    bool has_disk() const;

    // Never blocks on a file. For event loops: this first, find() elsewhere.
    stored find_in_memory(std::string_view url, const request_head&);
    stored find(std::string_view url, const request_head&);
    bool has(std::string_view url) const;
    // A partial response, whatever is asked of it, or null. Never blocks on a file.
    stored find_parts(std::string_view url, const request_head&);
    bool has_parts(std::string_view url) const;

    struct change {
        bool made = false;       // put: it is stored, or will be by settle(); erase: there was something
        bool unsettled = false;  // settle() has something to do on disk
        bool certain = false;    // put: it is stored, even if the disk cannot be written
        moment before = 0;       // erase: not earlier than when this URL was last erased before
    };
    // Changes that never block on a file. put_soon() does not store what is outdated or too large. A partial
    // response is combined with one of the same version, and is not stored beside a whole one.
    change put_soon(const stored&);
    change erase_soon(std::string_view url, moment when = next_moment());
    // Brings the disk up to date with what is noted about the URL; an error when something could not be
    // written. What it should have replaced is gone nevertheless.
    result<void> settle(std::string_view url);

    // The same, settled. put() is false when neither tier took it: a disk that cannot be written does not.
    bool put(const stored&);
    bool erase(std::string_view url);

    // Each URL of the union once.
    void for_each_url(const std::function<void(std::string_view)>&) const;
    void for_each_parts(const std::function<void(const stored_response&)>&) const;
    store_counts memory_counts() const;
    std::optional<store_counts> disk_counts() const;
    std::uint64_t index_limit() const;  // bytes of the disk's index

  private:
    struct tiers;
    change put_parts(const stored&);
    explicit store(std::unique_ptr<tiers>);
    std::unique_ptr<tiers> tiers_;
};

}  // namespace posy::http_cache
