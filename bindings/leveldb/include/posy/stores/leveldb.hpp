// A filter policy for LevelDB: a sealed filter (posy/sealed_block.hpp) for every two kilobytes of a table, in
// as many bytes as LevelDB's own Bloom filter takes. At 10 bits per key it answers yes to 1 absent key in 512
// instead of 1 in 100, so that a Get() of an absent key reads five times fewer blocks.
//
//     const auto policy = posy::stores::leveldb_policy(10);
//     options.filter_policy = policy.get();      // must outlive the database
//
// A database that was written under another policy can be opened with this one, and the other way round:
// LevelDB stores the policy's name with each table and ignores filters of other names, until compaction has
// rewritten the table. Thread safety: as LevelDB requires, calls from many threads.
#pragma once

#include <leveldb/filter_policy.h>

#include <memory>

namespace posy::stores {

// 3 to 40 bits per key are useful. Fewer than 2 give filters that say yes to every key.
std::unique_ptr<const leveldb::FilterPolicy> leveldb_policy(int bits_per_key);

}  // namespace posy::stores
