// What filters of other programs say of themselves, and what is said of files that are none.
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "dialect/item_count.hpp"
#include "dialect/placed_bits.hpp"
#include "hex.hpp"
#include "needed_options.hpp"
#include "posy/base/names.hpp"
#include "posy/dialect/foreign_filter.hpp"
#include "support.hpp"

namespace posy {
namespace {

constexpr double rate = 0.01;
constexpr std::uint64_t planned = 2000;

// Random keys: the hash of LevelDB has too few places for numbers that follow each other.
std::unique_ptr<foreign_filter> filled(dialect which, int keys) {
    auto filter = *foreign_filter::make(which, planned, rate, needed_options(which));
    std::mt19937_64 random(3);
    for (int i = 0; i < keys; ++i) EXPECT_TRUE(filter->insert(as_byte_view(std::to_string(random()))));
    return filter;
}

std::optional<foreign_filter::purpose> purpose_of(dialect which) {
    return filled(which, 10)->about().planned;
}

// Intervals of 95 % are 1.96 standard deviations on either side: three times as far is one false alarm in 200
// million.
TEST(foreign_facts, estimates_the_items_by_the_ones) {
    for (const dialect which : members<dialect>) {
        SCOPED_TRACE(name_of(which));
        for (const int keys : {0, 1, 300, 2000, 3000}) {
            const auto facts = filled(which, keys)->about();
            if (which == dialect::bip158 || which == dialect::hadoop_retouched) {
                EXPECT_FALSE(facts.different_items);
                continue;
            }
            ASSERT_TRUE(facts.different_items);
            const estimate& items = *facts.different_items;
            EXPECT_LE(items.low, items.value);
            EXPECT_GE(items.high, items.value);
            EXPECT_NEAR(items.value, keys, 3 * (items.high - items.low) / 2 + 1);
            EXPECT_LE(items.high - items.low, 0.1 * keys + 2);
        }
    }
}

// How often the interval holds the truth, where an item's bits are in one block: the blocks differ in their
// items, without which the interval would be too narrow. 400 filters: 95 % is 380 with a standard deviation
// of 4.4, and six of them are 26.
TEST(foreign_facts, the_interval_of_blocks_is_wide_enough) {
    int held = 0;
    for (int filter = 0; filter < 400; ++filter) {
        const auto blocks = *foreign_filter::make(dialect::parquet, 1000, 0.2);
        for (int i = 0; i < 1500; ++i)
            ASSERT_TRUE(blocks->insert(as_byte_view(std::to_string(filter) + " " + std::to_string(i))));
        const estimate items = *blocks->about().different_items;
        held += items.low <= 1500 && items.high >= 1500;
    }
    EXPECT_GE(held, 380 - 26);
}

// Places in a line of RocksDB's may repeat. Of 10^6 keys the margin is about 500; a key counted as all of its
// places would make the number 7,000 too low.
TEST(foreign_facts, counts_keys_whose_places_repeat) {
    const auto lines = *foreign_filter::make(dialect::rocksdb, 1'000'000, 1e-4);
    for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(lines->insert(as_byte_view(std::to_string(i))));
    const estimate items = *lines->about().different_items;
    EXPECT_NEAR(items.value, 1e6, 3 * (items.high - items.value));  // beyond it once in 10^8
}

// LevelDB's places depend on each other. 4,000 hits in a sample have a deviation of 1.6 %, the 1,000 of the
// rate's own sample 3.2 %: beyond 15 % once in 10,000, and the seeds are fixed.
TEST(foreign_facts, the_rate_of_leveldb_is_the_measured_one) {
    const auto block = *foreign_filter::make(dialect::leveldb, 500'000, 0.001);
    for (int i = 0; i < 500'000; ++i) ASSERT_TRUE(block->insert(as_byte_view(std::to_string(i))));
    int asked = 0;
    for (int hits = 0; hits < 4000 && asked < 20'000'000; ++asked)
        hits += block->may_contain(as_byte_view("absent " + std::to_string(asked)));
    EXPECT_NEAR(block->about().false_positive_rate * asked / 4000, 1, 0.15);
    EXPECT_FALSE(block->about().different_items);
}

TEST(foreign_facts, of_a_full_array_no_number_is_known) {
    foreign::item_count full;
    full.add(64, 3, 64);
    EXPECT_TRUE(std::isinf(full.items().value));
    EXPECT_TRUE(std::isinf(full.items().high));
    foreign::item_count none;
    none.add(64, 3, 0);
    EXPECT_EQ(none.items().high, 0);
}

TEST(foreign_facts, tells_what_the_filter_is_for) {
    for (const dialect which : {dialect::dcso, dialect::redis, dialect::squid}) {
        SCOPED_TRACE(name_of(which));
        const auto purpose = purpose_of(which);
        ASSERT_TRUE(purpose);
        EXPECT_TRUE(purpose->stated);
        EXPECT_EQ(purpose->items, planned);
        EXPECT_NEAR(purpose->rate, rate, 0.15 * rate);
    }
    // The best number of hashes was rounded to a whole one: of seven by at most a fourteenth.
    for (const dialect which :
         {dialect::spark_v1, dialect::spark_v2, dialect::guava_64, dialect::leveldb, dialect::rocksdb}) {
        SCOPED_TRACE(name_of(which));
        const auto purpose = purpose_of(which);
        ASSERT_TRUE(purpose);
        EXPECT_FALSE(purpose->stated);
        EXPECT_NEAR(static_cast<double>(purpose->items), planned, 0.2 * planned);
        EXPECT_NEAR(std::log2(purpose->rate), std::log2(rate), 1);
    }
    for (const dialect which : {dialect::hadoop, dialect::hadoop_counting, dialect::parquet})
        EXPECT_FALSE(purpose_of(which)) << name_of(which);
}

// Positions are numbers below 20 modulo 8 bits: 0 to 3 come three times, 4 to 7 twice. Below 6 only six bits
// are reached.
TEST(foreign_facts, positions_that_are_remainders_are_not_equally_likely) {
    const std::array<std::byte, 1> bits{std::byte{0b10010001}};
    const foreign::placed_bits array({.bits = 8, .hashes = 2}, bits);
    EXPECT_DOUBLE_EQ(array.false_positive_rate(20), std::pow(7.0 / 20, 2));
    EXPECT_DOUBLE_EQ(array.false_positive_rate(6), std::pow(2.0 / 6, 2));
    EXPECT_DOUBLE_EQ(array.false_positive_rate(8), array.false_positive_rate());
}

std::vector<std::byte> redis_vector(const std::string& name) {
    std::ifstream in(POSY_TESTDATA "/dialects/redis_vectors.txt");
    for (std::string own, hex; in >> own >> hex;)
        if (own == name) return unhex(hex);
    ADD_FAILURE() << "no vector " << name;
    return {};
}

// What a Redis dumped: one link, three of them, and one that does not grow.
TEST(foreign_facts, builds_what_redis_wrote) {
    for (const char* name : {"redis_plain", "redis_chain", "redis_fixed"}) {
        SCOPED_TRACE(name);
        const auto bytes = redis_vector(name);
        EXPECT_EQ(foreign_filter::recognise(bytes), dialect::redis);
        const auto read = foreign_filter::from_bytes(bytes);
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(*(*read)->to_bytes(), bytes);
        for (int i = 0; i < 100; ++i)
            EXPECT_TRUE((*read)->may_contain(as_byte_view("key " + std::to_string(i)))) << i;
        EXPECT_NEAR((*read)->about().planned->rate, rate, 1e-9);
    }
    const auto built = *foreign_filter::make(dialect::redis, 100, rate);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(built->insert(as_byte_view("key " + std::to_string(i))));
    EXPECT_EQ(*built->to_bytes(), redis_vector("redis_plain"));
}

// What RocksDB 7.8 wrote: a filter of keys of 0 to 1100 bytes, so that all ways through its hash are taken,
// and one of the kind that is refused.
TEST(foreign_facts, builds_what_rocksdb_wrote) {
    std::map<std::string, std::vector<std::byte>> vectors;
    std::ifstream in(POSY_TESTDATA "/dialects/rocksdb_vectors.txt");
    for (std::string name, hex; in >> name >> hex;) vectors[name] = unhex(hex);
    const auto& bytes = vectors["rocksdb_bloom"];
    EXPECT_EQ(foreign_filter::recognise(bytes), dialect::rocksdb);
    const auto read = foreign_filter::from_bytes(bytes);
    ASSERT_TRUE(read) << read.error().text();
    auto none = bytes;
    std::fill(none.begin(), none.end() - 5, std::byte{0});
    const auto built = *foreign_filter::from_bytes(none);
    for (std::size_t size = 0; size <= 1100; ++size) {
        std::string key(size, '\0');
        for (std::size_t i = 0; i < size; ++i) key[i] = static_cast<char>(7 * size + 13 * i);
        EXPECT_TRUE((*read)->may_contain(as_byte_view(key))) << size;
        ASSERT_TRUE(built->insert(as_byte_view(key)));
    }
    EXPECT_EQ(*built->to_bytes(), bytes);

    const auto ribbon = foreign_filter::from_bytes(vectors["rocksdb_ribbon"], dialect::rocksdb);
    ASSERT_FALSE(ribbon);
    EXPECT_NE(ribbon.error().message.find("a Ribbon filter of RocksDB"), std::string::npos);
    for (const auto& [at, value] : {std::pair(5, 7), std::pair(4, 1), std::pair(3, 0), std::pair(3, 31),
                                    std::pair(3, 32), std::pair(2, 1), std::pair(1, 1)}) {
        auto other = bytes;
        other[other.size() - static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
        EXPECT_FALSE(foreign_filter::from_bytes(other, dialect::rocksdb)) << at;
        EXPECT_NE(foreign_filter::recognise(other), dialect::rocksdb) << at;
    }
}

// What Cassandra 5 wrote at several rates, among them those where its table has a quirk. All lengths of what
// is left of a key behind 16 bytes occur, with bytes above 127.
TEST(foreign_facts, builds_what_cassandra_wrote) {
    std::ifstream in(POSY_TESTDATA "/dialects/cassandra_vectors.txt");
    int compared = 0;
    for (std::string rate_text, hex; in >> rate_text >> hex; ++compared) {
        SCOPED_TRACE(rate_text);
        const auto bytes = unhex(hex);
        EXPECT_EQ(foreign_filter::recognise(bytes), dialect::cassandra);
        const auto built = *foreign_filter::make(dialect::cassandra, 300, std::stod(rate_text));
        for (std::size_t i = 0; i < 300; ++i) {
            std::string key = std::to_string(i) + " ";
            for (std::size_t n = 0; n < i % 23; ++n) key += std::array{"a", "é", "€", "😀"}[i % 4];
            ASSERT_TRUE(built->insert(as_byte_view(key)));
        }
        EXPECT_EQ(*built->to_bytes(), bytes);
    }
    EXPECT_EQ(compared, 6);
    EXPECT_FALSE(foreign_filter::make(dialect::cassandra, 300, 6.7e-5));
}

// An object that Java serialised, with the name of its class, cut off anywhere, and with a name that is none.
TEST(foreign_facts, names_what_java_has_serialised) {
    const std::string name = "org.apache.spark.util.sketch.BloomFilterImpl";
    std::string object("\xac\xed\0\5sr\0", 7);
    object += static_cast<char>(name.size());
    object += name;
    const auto said = [](const std::string& bytes, std::optional<dialect> as) {
        const auto read = foreign_filter::from_bytes(as_byte_view(bytes), as);
        EXPECT_FALSE(read);
        return read ? std::string() : read.error().message;
    };
    for (const auto as :
         {std::optional<dialect>{}, std::optional(dialect::spark_v1), std::optional(dialect::hadoop)}) {
        EXPECT_NE(said(object, as).find("an object of " + name + " as Java"), std::string::npos);
        for (std::size_t size = 8; size < object.size(); ++size)
            EXPECT_NE(said(object.substr(0, size), as).find("writeTo()"), std::string::npos) << size;
        for (std::size_t size = 0; size < 8; ++size) (void)said(object.substr(0, size), as);
        auto forged = object;
        forged[10] = '\n';
        EXPECT_EQ(said(forged, as).find('\n'), std::string::npos);
        forged[6] = forged[7] = '\xff';
        EXPECT_NE(said(forged, as).find("writeTo()"), std::string::npos);
    }
}

// The limits of the programs in Java, at which they would take a wrong size or none.
TEST(foreign_facts, says_why_a_size_cannot_be) {
    const auto said = [](dialect which, std::uint64_t items, double at) {
        const auto made = foreign_filter::make(which, items, at, needed_options(which));
        EXPECT_FALSE(made) << name_of(which);
        return made ? std::string() : made.error().message;
    };
    for (const dialect which : {dialect::spark_v1, dialect::spark_v2, dialect::guava_32, dialect::guava_64})
        EXPECT_NE(said(which, std::uint64_t{1} << 40, rate).find("fewer than 2^31 words"), std::string::npos);
    for (const dialect which : {dialect::hadoop, dialect::hadoop_counting, dialect::hadoop_retouched})
        EXPECT_NE(said(which, 300'000'000, rate).find("fewer than 2^31 bits"), std::string::npos);
    EXPECT_NE(said(dialect::hadoop_dynamic, std::uint64_t{1} << 32, 0.9999999).find("2^31"),
              std::string::npos);
    EXPECT_NE(said(dialect::hadoop_retouched, 10'000'000, rate).find("2^26 bits"), std::string::npos);
    EXPECT_NE(said(dialect::parquet, std::uint64_t{1} << 32, rate).find("128 MiB"), std::string::npos);
}

}  // namespace
}  // namespace posy
