// The policies in real databases: no key is lost, absent keys read no more blocks than with RocksDB's own
// filters of the same size, and each form reads the tables of the others.
#include "posy/stores/rocksdb.hpp"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/table.h>

#include "support.hpp"

namespace posy {
namespace {

using stores::filter_form;
using policy = std::shared_ptr<const rocksdb::FilterPolicy>;
constexpr int keys = 50'000;

std::string key(int number) { return "key" + std::to_string(number * 7919LL % 1'000'003); }

class store {
  public:
    store(const std::filesystem::path& path, const policy& filter, bool partitions = false) {
        rocksdb::BlockBasedTableOptions table;
        table.filter_policy = filter;
        table.no_block_cache = !partitions;
        if (partitions) {
            table.partition_filters = true;
            table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
        }
        rocksdb::Options options;
        options.create_if_missing = true;
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        rocksdb::DB* opened = nullptr;
        const auto status = rocksdb::DB::Open(options, path.string(), &opened);
        if (!status.ok()) throw std::runtime_error(status.ToString());
        db_.reset(opened);
    }
    void fill() {
        rocksdb::WriteOptions unlogged;
        unlogged.disableWAL = true;
        for (int i = 0; i < keys; ++i) EXPECT_TRUE(db_->Put(unlogged, key(2 * i), "value").ok());
        EXPECT_TRUE(db_->Flush({}).ok());
        rocksdb::CompactRangeOptions all;
        all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
        EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).ok());
    }
    int found(bool present) {
        std::string value;
        int count = 0;
        for (int i = 0; i < keys; ++i) count += db_->Get({}, key(2 * i + (present ? 0 : 1)), &value).ok();
        return count;
    }
    // MultiGet asks many keys of a filter at once.
    int found_together() {
        std::vector<std::string> texts;
        for (int i = 0; i < 1000; ++i) texts.push_back(key(i));
        const std::vector<rocksdb::Slice> slices(texts.begin(), texts.end());
        std::vector<rocksdb::PinnableSlice> values(1000);
        std::vector<rocksdb::Status> statuses(1000);
        db_->MultiGet({}, db_->DefaultColumnFamily(), 1000, slices.data(), values.data(), statuses.data());
        return static_cast<int>(std::ranges::count_if(statuses, [](const auto& s) { return s.ok(); }));
    }
    std::uint64_t reads_of_absent_keys() {
        EXPECT_EQ(found(false), 0);
        rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
        rocksdb::get_perf_context()->Reset();
        EXPECT_EQ(found(false), 0);
        return rocksdb::get_perf_context()->block_read_count;
    }
    double bits_per_key() {
        rocksdb::TablePropertiesCollection tables;
        EXPECT_TRUE(db_->GetPropertiesOfAllTables(&tables).ok());
        std::uint64_t bytes = 0;
        for (const auto& [name, properties] : tables) bytes += properties->filter_size;
        return 8.0 * static_cast<double>(bytes) / keys;
    }

  private:
    std::unique_ptr<rocksdb::DB> db_;
};

TEST(RocksdbPolicy, EveryFormHasEveryKey) {
    scratch_directory folder;
    for (const filter_form form : {filter_form::sealed, filter_form::paired, filter_form::blocked}) {
        store db(folder / std::to_string(static_cast<int>(form)), stores::rocksdb_policy(10, form));
        db.fill();
        EXPECT_EQ(db.found(true), keys);
        EXPECT_EQ(db.found_together(), 500);
        EXPECT_NEAR(db.bits_per_key(), 10, 0.1);
        // 500 reads are expected of the Bloom filters at most; 620 would be 5 deviations above.
        EXPECT_LT(db.reads_of_absent_keys(), form == filter_form::sealed ? 90 : 620);
    }
}

TEST(RocksdbPolicy, NoMoreReadsThanItsOwnFiltersOfTheSameSize) {
    scratch_directory folder;
    for (const auto& own :
         {policy(rocksdb::NewBloomFilterPolicy(10)), policy(rocksdb::NewRibbonFilterPolicy(10, -1))}) {
        store theirs(folder / std::string(own->Name()), own);
        theirs.fill();
        store ours(folder / (std::string(own->Name()) + "-ours"),
                   stores::rocksdb_policy(theirs.bits_per_key()));
        ours.fill();
        EXPECT_LE(ours.bits_per_key(), theirs.bits_per_key() + 0.02);
        EXPECT_LT(ours.reads_of_absent_keys(), theirs.reads_of_absent_keys());
    }
}

TEST(RocksdbPolicy, FormsReadEachOtherAndStrangersAreIgnored) {
    scratch_directory folder;
    const std::uint64_t every = keys;
    store(folder / "db", policy(rocksdb::NewBloomFilterPolicy(10))).fill();
    {
        store db(folder / "db", stores::rocksdb_policy(10));
        EXPECT_EQ(db.found(true), keys);
        EXPECT_GE(db.reads_of_absent_keys(), every);  // no filter
        db.fill();
        EXPECT_LT(db.reads_of_absent_keys(), 90);
    }
    {
        store db(folder / "db", stores::rocksdb_policy(10, filter_form::blocked));
        EXPECT_LT(db.reads_of_absent_keys(), 90);  // the sealed ones are still there
        db.fill();
        EXPECT_EQ(db.found(true), keys);
    }
    store back(folder / "db", policy(rocksdb::NewBloomFilterPolicy(10)));
    EXPECT_EQ(back.found(true), keys);
    EXPECT_GE(back.reads_of_absent_keys(), every);
}

TEST(RocksdbPolicy, FiltersInPartitions) {
    scratch_directory folder;
    store db(folder / "db", stores::rocksdb_policy(10), true);
    db.fill();
    EXPECT_EQ(db.found(true), keys);
    EXPECT_EQ(db.found(false), 0);
    EXPECT_EQ(db.found_together(), 500);
}

}  // namespace
}  // namespace posy
