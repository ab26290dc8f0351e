// Filter policies for RocksDB: one filter per table file, in one of three forms.
//
//     sealed    the smallest: at 10 bits per key 1 absent key in 1000 is a false positive, where RocksDB's
//     own
//               Bloom filter has 1 in 105. To make one takes about 100 ns per key.
//     paired    a Bloom filter in two cache lines: at 10 bits per key 1 in 117
//     blocked   a Bloom filter in one cache line: the fastest to make and to ask, 1 in 103
//
//     rocksdb::BlockBasedTableOptions table;
//     table.filter_policy = posy::stores::rocksdb_policy(10);
//     options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
//
// Each form reads the filters of the others, so a database may change between them. Filters of RocksDB's own
// policies are ignored, as ours are by those: a table is then read without filter until compaction has
// rewritten it. Thread safety: as RocksDB requires, calls from many threads.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <memory>

namespace posy::stores {

enum class filter_form : std::uint8_t { sealed, paired, blocked };

// 3 to 30 bits per key are useful.
std::shared_ptr<const rocksdb::FilterPolicy> rocksdb_policy(double bits_per_key,
                                                            filter_form = filter_form::sealed);

}  // namespace posy::stores
