// Filters in LevelDB's own format, held against the policy of LevelDB itself, both ways.
#include <gtest/gtest.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cmath>
#include <memory>
#include <random>

#include "posy/dialect/foreign_filter.hpp"

namespace posy {
namespace {

// Keys of all lengths up to 40, of any bytes.
std::vector<std::string> random_keys(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<std::string> keys(count);
    for (std::string& key : keys) {
        key.resize(random() % 41);
        for (char& each : key) each = static_cast<char>(random());
    }
    return keys;
}

// The rate at which Posy takes so many bits per key.
double rate_of(int bits_per_key) { return std::exp(-0.480453013918201 * (bits_per_key - 0.5)); }

TEST(leveldb_dialect, has_the_bytes_and_answers_of_leveldb) {
    int wrong = 0;
    for (const int bits_per_key : {2, 5, 10, 16, 30}) {
        const std::unique_ptr<const leveldb::FilterPolicy> policy(
            leveldb::NewBloomFilterPolicy(bits_per_key));
        for (const std::size_t count : {1u, 7u, 100u, 5000u}) {
            SCOPED_TRACE(std::to_string(bits_per_key) + " bits, " + std::to_string(count) + " keys");
            const auto keys = random_keys(count, count);
            const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
            std::string theirs;
            policy->CreateFilter(slices.data(), static_cast<int>(count), &theirs);

            const auto ours = *foreign_filter::make(dialect::leveldb, count, rate_of(bits_per_key));
            for (const std::string& key : keys) ASSERT_TRUE(ours->insert(as_byte_view(key)));
            const auto bytes = *ours->to_bytes();
            const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            ASSERT_EQ(text, theirs);

            const auto read = foreign_filter::from_bytes(as_byte_view(theirs), dialect::leveldb);
            ASSERT_TRUE(read) << read.error().text();
            for (const std::string& key : keys) {
                EXPECT_TRUE((*read)->may_contain(as_byte_view(key)));
                EXPECT_TRUE(policy->KeyMayMatch(key, text));
            }
            for (const std::string& key : random_keys(count + 1, 2000)) {
                const bool found = (*read)->may_contain(as_byte_view(key));
                EXPECT_EQ(found, policy->KeyMayMatch(key, text));
                wrong += found;
            }
        }
    }
    EXPECT_GT(wrong, 100);  // of 10,000 at two to five bits per key: false positives are compared, too
}

}  // namespace
}  // namespace posy
