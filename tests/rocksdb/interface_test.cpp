// RocksDB's own filters called by our declarations of its interface: a version whose library has another
// order of functions fails here and not in somebody's database.
#include "rocksdb_interface.hpp"

#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <string>

namespace posy {
namespace {

TEST(RocksdbInterface, OfItsOwnFilters) {
    for (const std::shared_ptr<const rocksdb::FilterPolicy>& policy :
         {std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(10)),
          std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewRibbonFilterPolicy(10, -1))}) {
        rocksdb::BlockBasedTableOptions options;
        options.format_version = 5;
        const rocksdb::FilterBuildingContext context(options);
        const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy->GetBuilderWithContext(context));
        ASSERT_TRUE(builder);
        for (int i = 0; i < 1000; ++i) builder->AddKey("key" + std::to_string(i));
        EXPECT_EQ(builder->EstimateEntriesAdded(), 1000);
        const std::size_t fit = builder->ApproximateNumEntries(1250);
        EXPECT_GT(fit, 900);
        EXPECT_LT(fit, 1600);
        std::unique_ptr<const char[]> memory;
        rocksdb::Status status;
        const rocksdb::Slice filter = builder->Finish(&memory, &status);
        EXPECT_TRUE(status.ok());
        EXPECT_GT(filter.size(), 800);
        EXPECT_LT(filter.size(), 1500);
        EXPECT_TRUE(builder->MaybePostVerify(filter).ok());
        const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy->GetFilterBitsReader(filter));
        int wrong = 0;
        for (int i = 0; i < 1000; ++i) {
            EXPECT_TRUE(reader->MayMatch("key" + std::to_string(i)));
            wrong += reader->MayMatch("other" + std::to_string(i));
        }
        EXPECT_LT(wrong, 40);
        rocksdb::Slice there("key1"), absent("certainly not");
        rocksdb::Slice* both[] = {&there, &absent};
        bool answers[2] = {};
        reader->MayMatch(2, both, answers);
        EXPECT_TRUE(answers[0]);
    }
}

}  // namespace
}  // namespace posy
