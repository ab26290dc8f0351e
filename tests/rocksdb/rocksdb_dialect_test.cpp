// Filters in RocksDB's own format, held against the filters of RocksDB itself, both ways.
#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <random>

#include "hex.hpp"
#include "posy/dialect/foreign_filter.hpp"
#include "rocksdb_interface.hpp"

namespace posy {
namespace {

// Keys of any bytes whose lengths take every way through the hash, up to several of its rounds.
std::vector<std::string> random_keys(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<std::string> keys(count);
    for (std::string& key : keys) {
        constexpr std::array<std::size_t, 4> longest{17, 129, 260, 2600};
        key.resize(random() % longest[random() % longest.size()]);
        for (char& each : key) each = static_cast<char>(random());
    }
    return keys;
}

// The rate at which Posy takes so many bits per key: that of lines with a Poisson number of keys, and a
// little more, which is less than a thousandth of a bit changes.
double rate_of(double bits_per_key, unsigned hashes) {
    const double keys = 512 / bits_per_key;
    double odds = std::exp(-keys), sum = 0;
    for (int n = 1; n < 3000; ++n) {
        odds *= keys / n;
        sum += odds * std::pow(1 - std::pow(1 - 1.0 / 512, hashes * n), hashes);
    }
    return sum * (1 + 1e-4);
}

struct their_filter {
    std::unique_ptr<const rocksdb::FilterPolicy> policy;
    std::string bytes;

    their_filter(const rocksdb::FilterPolicy* of, const std::vector<std::string>& keys) : policy(of) {
        rocksdb::BlockBasedTableOptions options;
        options.format_version = 5;
        const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
            policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(options)));
        for (const std::string& key : keys) builder->AddKey(key);
        std::unique_ptr<const char[]> memory;
        bytes = builder->Finish(&memory).ToString();
    }
    std::unique_ptr<rocksdb::FilterBitsReader> reader(const std::string& of) const {
        return std::unique_ptr<rocksdb::FilterBitsReader>(policy->GetFilterBitsReader(of));
    }
};

TEST(rocksdb_dialect, has_the_bytes_and_answers_of_rocksdb) {
    int wrong = 0;
    for (const auto& [bits_per_key, hashes] :
         {std::pair(1.5, 1u), std::pair(4.0, 3u), std::pair(10.0, 6u), std::pair(13.5, 8u),
          std::pair(20.0, 11u), std::pair(31.0, 14u)}) {
        for (const std::size_t count : {1u, 7u, 100u, 5000u}) {
            SCOPED_TRACE(std::to_string(bits_per_key) + " bits, " + std::to_string(count) + " keys");
            const auto keys = random_keys(count, count);
            const their_filter theirs(rocksdb::NewBloomFilterPolicy(bits_per_key), keys);

            const auto ours = *foreign_filter::make(dialect::rocksdb, count, rate_of(bits_per_key, hashes));
            for (const std::string& key : keys) ASSERT_TRUE(ours->insert(as_byte_view(key)));
            const auto bytes = *ours->to_bytes();
            const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            ASSERT_EQ(text, theirs.bytes);

            EXPECT_EQ(foreign_filter::recognise(as_byte_view(theirs.bytes)), dialect::rocksdb);
            const auto read = foreign_filter::from_bytes(as_byte_view(theirs.bytes));
            ASSERT_TRUE(read) << read.error().text();
            const auto reader = theirs.reader(text);
            for (const std::string& key : keys) {
                EXPECT_TRUE((*read)->may_contain(as_byte_view(key)));
                EXPECT_TRUE(reader->MayMatch(key));
            }
            for (const std::string& key : random_keys(count + 1, 1000)) {
                const bool found = (*read)->may_contain(as_byte_view(key));
                EXPECT_EQ(found, reader->MayMatch(key));
                wrong += found;
            }
        }
    }
    EXPECT_GT(wrong, 500);  // of 4,000 at 1.5 bits per key: false positives are compared, too
}

// RocksDB reads the union of two of its filters, which it cannot make.
TEST(rocksdb_dialect, unites_filters_for_rocksdb) {
    const auto keys = random_keys(1, 2000);
    const auto half = static_cast<std::ptrdiff_t>(keys.size() / 2);
    const their_filter first(rocksdb::NewBloomFilterPolicy(20), {keys.begin(), keys.begin() + half});
    const their_filter second(rocksdb::NewBloomFilterPolicy(20), {keys.begin() + half, keys.end()});
    const auto both = *foreign_filter::from_bytes(as_byte_view(first.bytes));
    ASSERT_TRUE(both->unite(**foreign_filter::from_bytes(as_byte_view(second.bytes))));
    const auto bytes = *both->to_bytes();
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto reader = first.reader(text);
    for (const std::string& key : keys) EXPECT_TRUE(reader->MayMatch(key));
}

// The golden bytes of tests/dialect are what this library makes.
TEST(rocksdb_dialect, the_vectors_are_those_of_this_version) {
    std::vector<std::string> keys;
    for (std::size_t size = 0; size <= 1100; ++size) {
        keys.emplace_back(size, '\0');
        for (std::size_t i = 0; i < size; ++i) keys.back()[i] = static_cast<char>(7 * size + 13 * i);
    }
    std::ifstream in(POSY_TESTDATA "/dialects/rocksdb_vectors.txt");
    int compared = 0;
    for (std::string name, digits; in >> name >> digits; ++compared) {
        const bool bloom = name == "rocksdb_bloom";
        const their_filter made(
            bloom ? rocksdb::NewBloomFilterPolicy(10) : rocksdb::NewRibbonFilterPolicy(10, -1), keys);
        EXPECT_EQ(hex(as_byte_view(made.bytes)), digits) << name;
    }
    EXPECT_EQ(compared, 2);
}

}  // namespace
}  // namespace posy
