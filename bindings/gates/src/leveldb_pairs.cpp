#include "posy/gates/leveldb_pairs.hpp"

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <string>
#include <utility>

namespace posy::gates {
namespace {

leveldb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const leveldb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

error leveldb_error(const leveldb::Status& status) {
    std::string what = "LevelDB: " + status.ToString();
    return status.IsCorruption() ? error::damaged(std::move(what)) : error::input_output(std::move(what));
}

leveldb::ReadOptions checked_reads() {
    leveldb::ReadOptions how;
    how.verify_checksums = true;
    return how;
}

}  // namespace

leveldb_pairs::leveldb_pairs(std::unique_ptr<leveldb::DB> database, bool sync)
    : database_(std::move(database)), sync_(sync) {}
leveldb_pairs::~leveldb_pairs() = default;

result<std::unique_ptr<leveldb_pairs>> leveldb_pairs::open(const std::filesystem::path& folder, bool sync) {
    leveldb::Options how;
    how.create_if_missing = true;
    leveldb::DB* opened = nullptr;
    if (const auto status = leveldb::DB::Open(how, folder.string(), &opened); !status.ok())
        return leveldb_error(status);
    return std::unique_ptr<leveldb_pairs>(new leveldb_pairs(std::unique_ptr<leveldb::DB>(opened), sync));
}

result<std::optional<std::string>> leveldb_pairs::get(std::string_view key) const {
    std::string value;
    const auto status = database_->Get(checked_reads(), slice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return leveldb_error(status);
    return std::optional(std::move(value));
}

result<void> leveldb_pairs::write(std::span<const store::change> changes) {
    leveldb::WriteBatch batch;
    for (const store::change& each : changes)
        each.value ? batch.Put(slice(each.key), slice(*each.value)) : batch.Delete(slice(each.key));
    leveldb::WriteOptions how;
    how.sync = sync_;
    if (const auto status = database_->Write(how, &batch); !status.ok()) return leveldb_error(status);
    return {};
}

result<void> leveldb_pairs::each(std::string_view first, const visitor& visit) const {
    const std::unique_ptr<leveldb::Iterator> at(database_->NewIterator(checked_reads()));
    for (at->Seek(slice(first)); at->Valid() && visit(view(at->key()), view(at->value()));) at->Next();
    if (!at->status().ok()) return leveldb_error(at->status());
    return {};
}

}  // namespace posy::gates
