// The exact keys of a node, in LevelDB: a restart loses nothing, and a key that is not there cannot be
// removed from the counting filter by mistake.
//
// A change is in the log before it is answered, so a process that is killed at any moment has it; `sync`
// also survives a loss of power, at the price of a disk flush a change. Thread safety: all calls from any
// thread; a change and its announcement to the caller's filter happen under one lock, so that both always
// agree.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "hash/secret.hpp"

namespace leveldb {
class DB;
}

namespace posy::node {

class key_store {
  public:
    // An empty folder name keeps the keys in memory. Throws std::runtime_error.
    explicit key_store(const std::string& folder, bool sync = false);
    ~key_store();

    // False when there was nothing to change. `then` runs under the lock when there was.
    bool add(std::string_view key, const std::function<void()>& then);
    bool remove(std::string_view key, const std::function<void()>& then);
    bool has(std::string_view key) const;
    void for_each(const std::function<void(std::string_view)>&) const;

  private:
    std::unique_ptr<leveldb::DB> db_;
    std::unordered_set<std::string, hash::by_secret, std::equal_to<>> in_memory_;
    bool sync_;
    mutable std::mutex mutex_;
};

}  // namespace posy::node
