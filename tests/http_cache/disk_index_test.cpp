#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "heads.hpp"
#include "posy/http_cache/disk_store.hpp"
#include "support.hpp"

namespace posy::http_cache {
namespace {

namespace fs = std::filesystem;

// Whatever is put, put again, erased, evicted and found after a restart.
TEST(disk_index, counts_the_bytes_of_files_and_entries) {
    constexpr std::uint64_t most_in_index = 64 * 1024;
    const scratch_directory temporary;
    const disk_options how{temporary.path(), 1 << 20, most_in_index};
    const auto on_disk = [&] {
        std::uint64_t bytes = 0;
        for (const auto& each : fs::recursive_directory_iterator(temporary.path())) {
            const auto name = each.path().filename();
            if (each.is_regular_file() && name != "key" && name != "lock") bytes += each.file_size();
        }
        return bytes;
    };
    std::mt19937 random(7);
    auto store = std::move(*disk_store::open(how));
    for (int i = 0; i < 2000; ++i) {
        const auto number = random() % 200;
        const bool small = random() % 2 == 0;
        EXPECT_TRUE(*store->put(*plain(number, small ? 20 : 20'000)));
        if (i % 7 == 0) store->erase(url_of(random() % 200));
        if (i % 500 == 250) {
            store.reset();
            store = std::move(*disk_store::open(how));
        }
        if (i % 50 != 0) continue;
        const auto counts = store->counts();
        EXPECT_EQ(counts.bytes, on_disk());
        EXPECT_LE(counts.bytes, how.bytes);
        EXPECT_LE(counts.entries, most_in_index);
        EXPECT_GE(counts.entries, counts.objects * index_overhead);
    }
    EXPECT_GT(store->counts().evictions, 0u);
    for (std::uint64_t i = 0; i < 200; ++i) store->erase(url_of(i));
    EXPECT_EQ(store->counts().bytes, 0u);
    EXPECT_EQ(store->counts().entries, 0u);
}

}  // namespace
}  // namespace posy::http_cache
