// LevelDB with its own Bloom filter and with ours, at equal bits: how many blocks lookups of absent keys
// read, and how long they take. Reads are counted where LevelDB asks its Env for bytes of a table. Times are
// the least of five rounds, in which the filters take turns.
//
//   posy-bench-leveldb [KEYS [LOOKUPS [FOLDER]]]      5,000,000 keys, 2,000,000 lookups, /tmp
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

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

// A filled store, and the least times of lookups in it.
class store {
  public:
    store(std::string name, const leveldb::FilterPolicy* policy, const workload& t)
        : name_(std::move(name)),
          work_(t),
          folder_(t.folder),
          counted_(policy ? new weighed(*policy) : nullptr) {
        leveldb::Options options;
        options.create_if_missing = true;
        options.env = &env_;
        options.block_cache = cache_.get();
        options.filter_policy = counted_.get();
        options.write_buffer_size = std::size_t{64} << 20;
        leveldb::DB* opened = nullptr;
        check(leveldb::DB::Open(options, folder_.path(), &opened));
        db_.reset(opened);
        const stopwatch filling;
        fill(*db_, t);
        fill_time_ = filling.processor();
        workload first = t;
        first.lookups = 1000;
        look_up(*db_, first, false);  // opens the tables
    }
    void run() {
        reads = 0;
        const stopwatch absent;
        const std::uint64_t wrong = look_up(*db_, work_, false);
        absent_wall_ = std::min(absent_wall_, absent.wall());
        absent_processor_ = std::min(absent_processor_, absent.processor());
        absent_reads_ = reads;
        reads = 0;
        const stopwatch present;
        const std::uint64_t found = look_up(*db_, work_, true);
        present_processor_ = std::min(present_processor_, present.processor());
        present_reads_ = reads;
        require_right(name_.c_str(), work_, wrong, found);
    }
    void print() const {
        const auto lookups = static_cast<double>(work_.lookups);
        const double per = 1e9 / lookups;
        std::printf("| %s | %.2f | %.5f | %.0f | %.0f | %.0f | %.2f | %.1f |\n", name_.c_str(),
                    counted_
                        ? 8.0 * static_cast<double>(counted_->bytes) / static_cast<double>(counted_->entries)
                        : 0,
                    static_cast<double>(absent_reads_) / lookups, absent_processor_ * per, absent_wall_ * per,
                    present_processor_ * per, static_cast<double>(present_reads_) / lookups, fill_time_);
        std::fflush(stdout);
    }

  private:
    std::string name_;
    const workload& work_;
    scratch_folder folder_;
    counting_env env_;
    std::unique_ptr<leveldb::Cache> cache_{leveldb::NewLRUCache(0)};  // every block that is needed is read
    std::unique_ptr<weighed> counted_;
    std::unique_ptr<leveldb::DB> db_;
    double fill_time_ = 0, absent_wall_ = HUGE_VAL, absent_processor_ = HUGE_VAL,
           present_processor_ = HUGE_VAL;
    std::uint64_t absent_reads_ = 0, present_reads_ = 0;
};

// In turns, so that whatever else the machine does meets all of them.
void compare(const std::vector<store*>& stores) {
    constexpr int rounds = 5;
    for (int round = 0; round < rounds; ++round)
        for (store* each : stores) each->run();
    for (const store* each : stores) each->print();
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
    store without("none", nullptr, t);
    compare({&without});
    for (const keys_are kind : {keys_are::random, keys_are::numbers}) {
        t.kind = kind;
        const std::string keys = kind == keys_are::random ? ", random keys" : ", consecutive numbers";
        for (const int bits : {10, 16}) {
            const std::unique_ptr<const leveldb::FilterPolicy> own(leveldb::NewBloomFilterPolicy(bits));
            const auto ours = posy::stores::leveldb_policy(bits);
            store with_own("LevelDB's Bloom filter" + keys, own.get(), t);
            store with_ours("Posy's sealed blocks" + keys, ours.get(), t);
            compare({&with_own, &with_ours});
        }
    }
}
