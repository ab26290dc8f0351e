#include "key_store.hpp"

#include <leveldb/db.h>

#include <stdexcept>

namespace posy::node {

namespace {
leveldb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

void must(const leveldb::Status& status, const std::string& what) {
    if (!status.ok()) throw std::runtime_error("the store of keys: " + what + ": " + status.ToString());
}
}  // namespace

key_store::key_store(const std::string& folder, bool sync) : sync_(sync) {
    if (folder.empty()) return;
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB* db = nullptr;
    must(leveldb::DB::Open(options, folder, &db), "cannot open " + folder);
    db_.reset(db);
}

key_store::~key_store() = default;

bool key_store::has(std::string_view key) const {
    if (!db_) {
        const std::lock_guard lock(mutex_);
        return in_memory_.contains(std::string(key));
    }
    std::string value;
    const auto status = db_->Get({}, slice(key), &value);
    if (status.IsNotFound()) return false;
    must(status, "cannot read");
    return true;
}

bool key_store::add(std::string_view key, const std::function<void()>& then) {
    const std::lock_guard lock(mutex_);
    if (!db_) {
        if (!in_memory_.emplace(key).second) return false;
    } else {
        std::string value;
        const auto status = db_->Get({}, slice(key), &value);
        if (status.ok()) return false;
        if (!status.IsNotFound()) must(status, "cannot read");
        leveldb::WriteOptions how;
        how.sync = sync_;
        must(db_->Put(how, slice(key), {}), "cannot write");
    }
    then();
    return true;
}

bool key_store::remove(std::string_view key, const std::function<void()>& then) {
    const std::lock_guard lock(mutex_);
    if (!db_) {
        if (in_memory_.erase(std::string(key)) == 0) return false;
    } else {
        std::string value;
        const auto status = db_->Get({}, slice(key), &value);
        if (status.IsNotFound()) return false;
        must(status, "cannot read");
        leveldb::WriteOptions how;
        how.sync = sync_;
        must(db_->Delete(how, slice(key)), "cannot write");
    }
    then();
    return true;
}

void key_store::for_each(const std::function<void(std::string_view)>& visit) const {
    std::unique_lock lock(mutex_);
    if (!db_) {
        for (const auto& key : in_memory_) visit(key);
        return;
    }
    // The iterator sees the store as it is now, and now no change is in the store that is not in the filter.
    const std::unique_ptr<leveldb::Iterator> at(db_->NewIterator({}));
    lock.unlock();
    for (at->SeekToFirst(); at->Valid(); at->Next()) visit({at->key().data(), at->key().size()});
    must(at->status(), "cannot read");
}

}  // namespace posy::node
