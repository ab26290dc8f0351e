// The exact keys of a node, in LevelDB: a restart loses nothing, and a key that is not there cannot be
// removed from the counting filter by mistake.
//
// A change is in the log before it is answered, so a process that is killed at any moment has it; `sync`
// also survives a loss of power, at the price of three disk flushes. Changes that come together are one
// record of the log, and cost what one of them does. A store that has lost a key
// is noticed: all keys are read and compared with the tally (key_tally.hpp) when it is opened, before LevelDB
// may remove a file, and again by for_each; every read verifies checksums. Opening costs a scan of all keys.
//
// After a change that could not be written no other is taken, because LevelDB's log is not to be trusted
// behind it; the keys can still be read. Thread safety: all calls from any thread; a change and its
// announcement to the caller's filter happen under one lock, so that both always agree. Readers do not wait
// for each other; a change may take as long as the disk does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "key_tally.hpp"
#include "posy/secret_hash.hpp"

namespace leveldb {
class DB;
}

namespace posy::node {

class patient_env;

struct key_change {
    std::string key;
    bool enters = true;
};

class key_store {
  public:
    // An empty folder name keeps the keys in memory. Throws std::runtime_error, also for a store that is
    // damaged or not complete, with what to do; its files are then all still there.
    explicit key_store(const std::string& folder, bool sync = false);
    ~key_store();

    // Makes all of these changes or, when it throws or the process is killed, none. Returns those for which
    // there was something to change, in order; `then` runs for each of them under the lock.
    std::vector<const key_change*> change(std::span<const key_change>,
                                          const std::function<void(const key_change&)>& then);
    // One of them: false when there was nothing to change.
    bool add(std::string_view key, const std::function<void()>& then);
    bool remove(std::string_view key, const std::function<void()>& then);
    bool has(std::string_view key) const;
    void for_each(const std::function<void(std::string_view)>&) const;

  private:
    // Nothing is expected of a store that is being made.
    void open_database(const tally_file::content& expected);
    void note(const tally_file::content&, bool sync);
    bool stored(std::string_view key) const;
    // Under the lock: the changes that are to be made, made.
    std::vector<const key_change*> change_memory(std::span<const key_change>);
    std::vector<const key_change*> change_database(std::span<const key_change>);

    std::string folder_;
    bool sync_;
    std::optional<tally_file> witness_;
    std::unique_ptr<patient_env> env_;  // outlives the database
    std::unique_ptr<leveldb::DB> db_;
    std::unordered_set<std::string, hash::by_secret, std::equal_to<>> in_memory_;
    key_tally tally_;
    std::string broken_;  // why no more changes are taken; empty: they are
    mutable std::shared_mutex mutex_;
};

}  // namespace posy::node
