// LevelDB with its own Bloom filter and with ours, at equal bits: how many blocks lookups of absent keys
// read, and how long they take. Reads are counted where LevelDB asks its Env for bytes of a table.
//
//   posy-bench-leveldb [KEYS [LOOKUPS [FOLDER]]]      5,000,000 keys, 2,000,000 lookups, /tmp
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "posy/stores/leveldb.hpp"
#include "workload.hpp"

namespace stores_bench {
namespace {

void check(const leveldb::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
}

std::atomic<std::uint64_t> reads;

class counted_file : public leveldb::RandomAccessFile {
  public:
    explicit counted_file(leveldb::RandomAccessFile* file) : file_(file) {}
    leveldb::Status Read(std::uint64_t offset, std::size_t n, leveldb::Slice* result,
                         char* scratch) const override {
        reads.fetch_add(1, std::memory_order_relaxed);
        return file_->Read(offset, n, result, scratch);
    }

  private:
    std::unique_ptr<leveldb::RandomAccessFile> file_;
};

class counting_env : public leveldb::EnvWrapper {
  public:
    counting_env() : EnvWrapper(leveldb::Env::Default()) {}
    leveldb::Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override {
        leveldb::Status status = target()->NewRandomAccessFile(name, file);
        if (status.ok()) *file = new counted_file(*file);
        return status;
    }
};

// Counts what the filters take.
class weighed : public leveldb::FilterPolicy {
  public:
    explicit weighed(const leveldb::FilterPolicy& policy) : policy_(policy) {}
    const char* Name() const override { return policy_.Name(); }
    void CreateFilter(const leveldb::Slice* keys, int n, std::string* to) const override {
        const std::size_t before = to->size();
        policy_.CreateFilter(keys, n, to);
        bytes += to->size() - before;
        entries += static_cast<std::uint64_t>(n);
    }
    bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
        return policy_.KeyMayMatch(key, filter);
    }
    mutable std::atomic<std::uint64_t> bytes, entries;

  private:
    const leveldb::FilterPolicy& policy_;
};

void fill(leveldb::DB& db, const workload& t) {
    leveldb::WriteBatch batch;
    const auto keys = t.sorted();
    for (std::uint64_t i = 0; i < keys.size(); ++i) {
        batch.Put(keys[i], value(i));
        if (i % 1000 != 999 && i + 1 != keys.size()) continue;
        check(db.Write({}, &batch));
        batch.Clear();
    }
    db.CompactRange(nullptr, nullptr);
}

std::uint64_t look_up(leveldb::DB& db, const workload& t, bool present) {
    std::string value;
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < t.lookups; ++i) found += db.Get({}, t.wanted(i, present), &value).ok();
    return found;
}

void measure(const char* name, const leveldb::FilterPolicy* policy, const workload& t) {
    const scratch_folder folder(t.folder);
    counting_env env;
    const std::unique_ptr<leveldb::Cache> cache(
        leveldb::NewLRUCache(0));  // every block that is needed is read
    const std::unique_ptr<weighed> counted(policy ? new weighed(*policy) : nullptr);
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = &env;
    options.block_cache = cache.get();
    options.filter_policy = counted.get();
    options.write_buffer_size = std::size_t{64} << 20;
    leveldb::DB* opened = nullptr;
    check(leveldb::DB::Open(options, folder.path(), &opened));
    std::unique_ptr<leveldb::DB> db(opened);
    const stopwatch filling;
    fill(*db, t);
    const double fill_time = filling.processor();
    workload first = t;
    first.lookups = 1000;
    look_up(*db, first, false);  // opens the tables
    reads = 0;
    const stopwatch absent;
    const std::uint64_t wrong = look_up(*db, t, false);
    const double wall = absent.wall(), processor = absent.processor();
    const std::uint64_t absent_reads = reads;
    reads = 0;
    const stopwatch present;
    const std::uint64_t found = look_up(*db, t, true);
    const double per = 1e9 / static_cast<double>(t.lookups);
    std::printf(
        "| %s | %.2f | %.5f | %.0f | %.0f | %.0f | %.2f | %.1f |\n", name,
        counted ? 8.0 * static_cast<double>(counted->bytes) / static_cast<double>(counted->entries) : 0,
        static_cast<double>(absent_reads) / static_cast<double>(t.lookups), processor * per, wall * per,
        present.processor() * per, static_cast<double>(reads) / static_cast<double>(t.lookups), fill_time);
    std::fflush(stdout);
    if (wrong != 0 || found != t.lookups) {
        std::fprintf(stderr, "%s: %llu absent keys found, %llu of %llu present ones\n", name,
                     static_cast<unsigned long long>(wrong), static_cast<unsigned long long>(found),
                     static_cast<unsigned long long>(t.lookups));
        std::exit(1);
    }
}

}  // namespace
}  // namespace stores_bench

int main(int argc, char** argv) {
    using namespace stores_bench;
    workload t = workload::from(argc, argv);
    std::printf(
        "| filter | bits per key | block reads per absent key | Get of one, ns of processor | ns of wall "
        "clock "
        "| Get of a present key, ns | its block reads | filling and compaction, s |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|\n");
    measure("none", nullptr, t);
    for (const keys_are kind : {keys_are::random, keys_are::numbers}) {
        t.kind = kind;
        const std::string keys = kind == keys_are::random ? ", random keys" : ", consecutive numbers";
        for (const int bits : {10, 16}) {
            const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
            const auto ours = posy::stores::leveldb_policy(bits);
            measure(("LevelDB's Bloom filter" + keys).c_str(), own.get(), t);
            measure(("Posy's sealed blocks" + keys).c_str(), ours.get(), t);
        }
    }
}
