// RocksDB with its own Bloom and Ribbon filters and with ours, at equal bits: how many blocks lookups of
// absent keys read, and how long they take. Reads are counted by RocksDB's perf context; there is no block
// cache, and the filters stay in memory.
//
//   posy-bench-rocksdb [KEYS [LOOKUPS [FOLDER]]]      5,000,000 keys, 2,000,000 lookups, /tmp
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "posy/stores/rocksdb.hpp"
#include "workload.hpp"

namespace stores_bench {
namespace {

using policy = std::shared_ptr<const rocksdb::FilterPolicy>;

void check(const rocksdb::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
}

std::unique_ptr<rocksdb::DB> open(const std::string& path, const policy& filter) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy = filter;
    table.format_version = 5;
    table.no_block_cache = true;
    rocksdb::Options options;
    options.create_if_missing = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.write_buffer_size = std::size_t{64} << 20;
    options.max_open_files = -1;
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, path, &opened));
    return std::unique_ptr<rocksdb::DB>(opened);
}

void fill(rocksdb::DB& db, const workload& t) {
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    rocksdb::WriteBatch batch;
    const auto keys = t.sorted();
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
        check(batch.Put(keys[i], value(i)));
        if (i % 1000 != 999 && i + 1 != keys.size()) continue;
        check(db.Write(unlogged, &batch));
        batch.Clear();
    }
    check(db.Flush({}));
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    check(db.CompactRange(all, nullptr, nullptr));
}

std::uint64_t look_up(rocksdb::DB& db, const workload& t, bool present) {
    rocksdb::PinnableSlice value;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < t.lookups; ++i) {
        const std::string wanted = t.wanted(i, present);
        found += db.Get({}, db.DefaultColumnFamily(), wanted, &value).ok();
        value.Reset();
    }
    return found;
}

// MultiGet of 32 absent keys at a time.
void look_up_many(rocksdb::DB& db, const workload& t) {
    constexpr std::size_t some = 32;
    std::vector<std::string> texts(some);
    std::vector<rocksdb::Slice> keys(some);
    std::vector<rocksdb::PinnableSlice> values(some);
    std::vector<rocksdb::Status> statuses(some);
    for (std::uint64_t i = 0; i + some <= t.lookups; i += some) {
        for (std::size_t j = 0; j < some; ++j) {
            texts[j] = t.wanted(i + j, false);
            keys[j] = texts[j];
            values[j].Reset();
        }
        db.MultiGet({}, db.DefaultColumnFamily(), some, keys.data(), values.data(), statuses.data());
    }
}

// Returns the bits per key that the filters take.
double measure(const char* name, const policy& filter, const workload& t) {
    const scratch_folder folder(t.folder);
    auto db = open(folder.path(), filter);
    const stopwatch filling;
    fill(*db, t);
    const double fill_time = filling.processor();
    rocksdb::TablePropertiesCollection tables;
    check(db->GetPropertiesOfAllTables(&tables));
    std::uint64_t filter_bytes = 0;
    for (const auto& [file, properties] : tables) filter_bytes += properties->filter_size;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    workload first = t;
    first.lookups = 1000;
    look_up(*db, first, false);
    rocksdb::get_perf_context()->Reset();
    const stopwatch absent;
    const std::uint64_t wrong = look_up(*db, t, false);
    const double wall = absent.wall(), processor = absent.processor();
    const std::uint64_t reads = rocksdb::get_perf_context()->block_read_count;
    const stopwatch many;
    look_up_many(*db, t);
    const double many_processor = many.processor();
    const stopwatch present;
    const std::uint64_t found = look_up(*db, t, true);
    const double per = 1e9 / static_cast<double>(t.lookups);
    const double bits = 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(t.keys);
    std::printf("| %s | %.3f | %zu | %.5f | %.0f | %.0f | %.0f | %.0f | %.1f |\n", name, bits, tables.size(),
                static_cast<double>(reads) / static_cast<double>(t.lookups), processor * per, wall * per,
                many_processor * per, present.processor() * per, fill_time);
    std::fflush(stdout);
    if (wrong != 0 || found != t.lookups) {
        std::fprintf(stderr, "%s: %llu absent keys found, %llu of %llu present ones\n", name,
                     static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(found),
                     static_cast<unsigned long long>(t.lookups));
        std::exit(1);
    }
    return bits;
}

}  // namespace
}  // namespace stores_bench

int main(int argc, char** argv) {
    using namespace stores_bench;
    using posy::stores::filter_form;
    using posy::stores::rocksdb_policy;
    workload t = workload::from(argc, argv);
    std::printf(
        "| filter | bits per key | tables | block reads per absent key | Get of one, ns of processor | ns of "
        "wall clock | MultiGet of 32, ns per key | Get of a present key, ns | filling and compaction, s |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    const double bloom = measure("RocksDB's Bloom filter", policy(rocksdb::NewBloomFilterPolicy(10)), t);
    measure("Posy, blocked", rocksdb_policy(bloom, filter_form::blocked), t);
    measure("Posy, paired", rocksdb_policy(bloom, filter_form::paired), t);
    measure("Posy, sealed", rocksdb_policy(bloom, filter_form::sealed), t);
    for (const double equivalent : {10.0, 14.4}) {
        const double ribbon =
            measure("RocksDB's Ribbon filter", policy(rocksdb::NewRibbonFilterPolicy(equivalent, -1)), t);
        measure("Posy, sealed", rocksdb_policy(ribbon, filter_form::sealed), t);
    }
}
