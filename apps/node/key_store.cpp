#include "key_store.hpp"

#include <fmt/format.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "store_files.hpp"

namespace posy::node {

namespace {

leveldb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const leveldb::Slice& text) { return {text.data(), text.size()}; }

std::runtime_error failure(const std::string& folder, const std::string& what) {
    return std::runtime_error("the store of keys " + folder + ": " + what);
}

std::runtime_error damaged(const std::string& folder, const std::string& what) {
    return failure(folder,
                   what +
                       "; no file of it was removed. Put it back from a copy, or recover what is there with "
                       "'posy node --repair --data " +
                       folder + "'");
}

leveldb::ReadOptions checked_reading() {
    leveldb::ReadOptions how;
    how.verify_checksums = true;
    return how;
}

// Every key once, in order, and what they add up to.
key_tally visit_all(const std::string& folder, leveldb::Iterator& at,
                    const std::function<void(std::string_view)>& visit) {
    key_tally found;
    for (at.SeekToFirst(); at.Valid(); at.Next()) {
        found.add(view(at.key()));
        visit(view(at.key()));
    }
    if (!at.status().ok()) throw damaged(folder, "cannot read: " + at.status().ToString());
    return found;
}

}  // namespace

key_store::key_store(const std::string& folder, bool sync) : folder_(folder), sync_(sync) {
    if (folder.empty()) return;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw failure(folder, "cannot make it: " + failed.message());
    const bool files = !store_files(folder).empty();
    if (files && !std::filesystem::exists(tally_file::path_in(folder), failed))
        throw damaged(folder, "its file KEYS is missing, which says how many keys it has");
    auto opened = tally_file::open(folder);
    if (!opened) throw failure(folder, opened.error().text());
    witness_.emplace(std::move(*opened));
    const auto content = witness_->read();
    if (!content) throw damaged(folder, content.error().text());
    if (files && content->is == tally_file::content::empty) throw damaged(folder, "its file KEYS is empty");
    if (content->is == tally_file::content::in_use) {
        open_database(*content);
    } else {  // a new one, or one whose making was cut short before it had a key
        note({tally_file::content::being_made, {}, {}}, true);
        open_database({});
        note({tally_file::content::in_use, {}, {}}, true);
    }
}

void key_store::open_database(const tally_file::content& expected) {
    leveldb::Options options;
    const bool exists = expected.is == tally_file::content::in_use;
    options.create_if_missing = !exists;
    options.paranoid_checks = true;
    env_ = std::make_unique<patient_env>();
    options.env = env_.get();
    if (exists && !std::filesystem::exists(folder_ + "/CURRENT"))
        throw damaged(folder_, "its file CURRENT is missing");
    leveldb::DB* db = nullptr;
    if (const auto status = leveldb::DB::Open(options, folder_, &db); !status.ok())
        throw status.IsIOError() ? failure(folder_, "cannot open: " + status.ToString())
                                 : damaged(folder_, "cannot open: " + status.ToString());
    db_.reset(db);
    auto how = checked_reading();
    how.fill_cache = false;
    const std::unique_ptr<leveldb::Iterator> at(db_->NewIterator(how));
    tally_ = visit_all(folder_, *at, [](std::string_view) {});
    if (tally_ != expected.after && tally_ != expected.before)
        throw damaged(
            folder_, tally_.keys == expected.after.keys
                         ? fmt::format("its {} keys are not those that were kept", tally_.keys)
                         : fmt::format("it has {} keys, and {} were kept", tally_.keys, expected.after.keys));
    env_->remove_from_now_on();
    if (exists) note({tally_file::content::in_use, tally_, tally_}, sync_);
}

void key_store::note(const tally_file::content& what, bool sync) {
    if (auto done = witness_->write(what, sync); !done) throw failure(folder_, done.error().text());
}

key_store::~key_store() = default;

bool key_store::has(std::string_view key) const {
    if (!db_) {
        const std::shared_lock lock(mutex_);
        return in_memory_.contains(std::string(key));
    }
    return stored(key);
}

bool key_store::stored(std::string_view key) const {
    std::string value;
    const auto status = db_->Get(checked_reading(), slice(key), &value);
    if (status.IsNotFound()) return false;
    if (!status.ok()) throw damaged(folder_, "cannot read: " + status.ToString());
    return true;
}

std::vector<const key_change*> key_store::change(std::span<const key_change> wanted,
                                                 const std::function<void(const key_change&)>& then) {
    const std::unique_lock lock(mutex_);
    auto made = db_ ? change_database(wanted) : change_memory(wanted);
    for (const key_change* each : made) then(*each);
    return made;
}

bool key_store::add(std::string_view key, const std::function<void()>& then) {
    const key_change one{std::string(key), true};
    return !change({&one, 1}, [&](const key_change&) { then(); }).empty();
}

bool key_store::remove(std::string_view key, const std::function<void()>& then) {
    const key_change one{std::string(key), false};
    return !change({&one, 1}, [&](const key_change&) { then(); }).empty();
}

std::vector<const key_change*> key_store::change_memory(std::span<const key_change> wanted) {
    std::vector<const key_change*> made;
    for (const key_change& each : wanted)
        if (each.enters ? in_memory_.insert(each.key).second : in_memory_.erase(each.key) > 0)
            made.push_back(&each);
    return made;
}

// Whatever fails, the witness still allows for both: that they were made, and that they were not. LevelDB
// writes a batch as one record, which is there or is not.
std::vector<const key_change*> key_store::change_database(std::span<const key_change> wanted) {
    leveldb::WriteBatch batch;
    std::vector<const key_change*> made;
    std::unordered_map<std::string_view, bool, hash::by_secret> there;  // after the changes so far
    key_tally next = tally_;
    for (const key_change& each : wanted) {
        const auto known = there.find(each.key);
        if ((known != there.end() ? known->second : stored(each.key)) == each.enters) continue;
        there[each.key] = each.enters;
        each.enters ? batch.Put(slice(each.key), {}) : batch.Delete(slice(each.key));
        each.enters ? next.add(each.key) : next.remove(each.key);
        made.push_back(&each);
    }
    if (made.empty()) return made;
    if (!broken_.empty()) throw failure(folder_, broken_);
    const auto fail = [&](const std::string& why) {
        broken_ = "it takes no changes since one failed (" + why +
                  "); restart the node when there is room on the disk";
        throw failure(folder_, broken_);
    };
    if (auto done = witness_->write({tally_file::content::in_use, tally_, next}, sync_); !done)
        fail(done.error().text());
    leveldb::WriteOptions how;
    how.sync = sync_;
    if (const auto status = db_->Write(how, &batch); !status.ok()) fail(status.ToString());
    if (auto done = witness_->write({tally_file::content::in_use, next, next}, sync_); !done)
        fail(done.error().text());
    tally_ = next;
    return made;
}

void key_store::for_each(const std::function<void(std::string_view)>& visit) const {
    std::shared_lock lock(mutex_);
    if (!db_) {
        for (const auto& key : in_memory_) visit(key);
        return;
    }
    // The iterator sees the store as it is now, and now no change is in the store that is not in the filter.
    const std::unique_ptr<leveldb::Iterator> at(db_->NewIterator(checked_reading()));
    const key_tally expected = tally_;
    const bool sure = broken_.empty();
    lock.unlock();
    const key_tally found = visit_all(folder_, *at, visit);
    if (sure && found != expected) throw damaged(folder_, "keys are missing in it");
}

}  // namespace posy::node
