#include "key_repair.hpp"

#include <leveldb/db.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "key_store.hpp"
#include "key_tally.hpp"
#include "posy/base/file.hpp"
#include "store_files.hpp"

namespace posy::node {
namespace {

namespace fs = std::filesystem;

template <class T>
T must(result<T> value, const std::string& where) {
    if (!value) throw std::runtime_error(where + ": " + value.error().text());
    if constexpr (!std::is_void_v<T>) return std::move(*value);
}

void must(const leveldb::Status& status, const std::string& where) {
    if (!status.ok()) throw std::runtime_error(where + ": " + status.ToString());
}

fs::path numbered_folder(const fs::path& in, unsigned number) {
    return in / ("damaged-" + std::to_string(number));
}

// How many folders of that name there are, numbered from 1.
unsigned folders(const fs::path& in) {
    unsigned number = 0;
    while (fs::exists(numbered_folder(in, number + 1))) ++number;
    return number;
}

// All files, in a folder that appears when it is complete. Those that are replaced and never written to again
// are linked; KEYS is written to.
std::string copy_aside(const fs::path& folder) {
    const auto made = numbered_folder(folder, folders(folder) + 1), half = fs::path(made.string() + ".part");
    fs::remove_all(half);
    fs::create_directory(half);
    for (const auto& name : store_files(folder)) {
        std::error_code unlinkable;
        fs::create_hard_link(folder / name, half / name, unlinkable);
        if (unlinkable) fs::copy_file(folder / name, half / name);
    }
    if (const fs::path keys = tally_file::path_in(folder); fs::file_size(keys) > 0)
        fs::copy_file(keys, half / keys.filename());
    fs::rename(half, made);
    return made.string();
}

void keep_intact_records(const fs::path& log) {
    std::ifstream in(log, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) throw std::runtime_error(log.string() + ": cannot read");
    const std::string records = intact_records(text);
    auto file = must(base::atomic_file::create(log), log);
    must(base::write_fully(file.get(), as_byte_view(records)), log);
    must(file.commit(), log);
}

// LevelDB's lock, for as long as this lives: its own repair does not take it.
class database_lock {
  public:
    explicit database_lock(const std::string& folder) {
        must(leveldb::Env::Default()->LockFile(folder + "/LOCK", &lock_), folder);
    }
    database_lock(const database_lock&) = delete;
    database_lock& operator=(const database_lock&) = delete;
    ~database_lock() { leveldb::Env::Default()->UnlockFile(lock_); }

  private:
    leveldb::FileLock* lock_ = nullptr;
};

void repair_database(const std::string& folder, const leveldb::Options& options) {
    const database_lock lock(folder);
    for (const auto& name : store_files(folder))
        if (name.ends_with(".log")) keep_intact_records(fs::path(folder) / name);
    must(leveldb::RepairDB(folder, options), folder);
}

key_tally tally_of(const std::string& folder, const leveldb::Options& options) {
    leveldb::DB* opened = nullptr;
    must(leveldb::DB::Open(options, folder, &opened), folder);
    const std::unique_ptr<leveldb::DB> db(opened);
    leveldb::ReadOptions how;
    how.verify_checksums = true;
    const std::unique_ptr<leveldb::Iterator> at(db->NewIterator(how));
    key_tally found;
    for (at->SeekToFirst(); at->Valid(); at->Next()) found.add({at->key().data(), at->key().size()});
    must(at->status(), folder);
    return found;
}

// As a start finds it: the keys, if every one that was kept is there.
std::optional<std::uint64_t> keys_if_intact(const std::string& folder) {
    try {
        const key_store store(folder);
        std::uint64_t keys = 0;
        store.for_each([&](std::string_view) { ++keys; });
        return keys;
    } catch (const std::runtime_error&) {  // what is wrong, the repair says better
        return std::nullopt;
    }
}

}  // namespace

repaired_keys repair_keys(const std::string& folder) {
    if (store_files(folder).empty())
        throw std::runtime_error(folder + ": no store of keys is there, nor what is left of one");
    repaired_keys report;
    if (const auto before = folders(folder); before > 0)
        report.earlier = numbered_folder(folder, before).string();
    if (const auto keys = keys_if_intact(folder)) {
        report.keys = *keys;
        return report;
    }
    auto witness = must(tally_file::open(folder), folder);
    const auto read = witness.read();
    const bool known = read && read->is == tally_file::content::in_use;  // a damaged one tells nothing
    report.copy = copy_aside(folder);
    const fs::path lost =
        fs::path(folder) / "lost";  // where LevelDB puts what it has used; the copy has it all
    const bool had_lost = fs::exists(lost);
    leveldb::Options options;
    options.paranoid_checks = true;
    repair_database(folder, options);
    const key_tally found = tally_of(folder, options);
    // Only now: until here a start compares with the keys that there were.
    must(witness.write({tally_file::content::in_use, found, found}, true), folder);
    if (!had_lost) fs::remove_all(lost);
    report.keys = found.keys;
    if (known) {
        report.expected = read->after.keys;
        report.exact = found == read->after || found == read->before;
    }
    return report;
}

}  // namespace posy::node
