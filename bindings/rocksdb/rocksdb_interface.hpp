// What RocksDB calls of a filter, as its library was compiled. Since 7.0 the public headers name these two
// classes and do not define them: policies of others are tolerated, not supported. The order of the virtual
// functions is that of RocksDB 7.8; tests/rocksdb/interface_test.cpp calls RocksDB's own filters by these
// declarations and so checks it.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#include <cstdint>
#include <memory>

#if ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8
#error "the filter policies know the interface of RocksDB 7.8; build with -DPOSY_STORES=OFF"
#endif

namespace ROCKSDB_NAMESPACE {

class FilterBitsBuilder {
  public:
    virtual ~FilterBitsBuilder() = default;
    // Keys come in order; the same key may come again.
    virtual void AddKey(const Slice& key) = 0;
    virtual std::size_t EstimateEntriesAdded() = 0;
    // The filter; `memory` becomes its owner.
    virtual Slice Finish(std::unique_ptr<const char[]>* memory) = 0;
    virtual Slice Finish(std::unique_ptr<const char[]>* memory, Status*) { return Finish(memory); }
    virtual Status MaybePostVerify(const Slice&) { return Status::OK(); }
    // How many keys fit into a filter of this size: for filters in partitions.
    virtual std::size_t ApproximateNumEntries(std::size_t bytes) = 0;
};

class FilterBitsReader {
  public:
    virtual ~FilterBitsReader() = default;
    virtual bool MayMatch(const Slice& key) = 0;
    virtual void MayMatch(int count, Slice** keys, bool* answers) = 0;
    // Asked of RocksDB's own filters only.
    virtual bool HashMayMatch(std::uint64_t) { return true; }
};

}  // namespace ROCKSDB_NAMESPACE
