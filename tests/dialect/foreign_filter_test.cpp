#include "posy/dialect/foreign_filter.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <unordered_set>

#include "posy/base/names.hpp"
#include "posy/key.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

std::string contents(const std::string& name) {
    std::ifstream in(POSY_TESTDATA "/dialects/" + name, std::ios::binary);
    EXPECT_TRUE(in) << name;
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines(const std::string& name) {
    std::vector<std::string> all;
    std::istringstream in(contents(name));
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

// What the classes of Spark, Guava and Hadoop printed; testdata/dialects/README.md.
std::vector<std::byte> vector_of(const std::string& name) {
    for (const std::string& line : lines("java_vectors.txt")) {
        if (!line.starts_with(name + " ")) continue;
        std::vector<std::byte> bytes;
        for (std::size_t at = name.size() + 1; at + 1 < line.size(); at += 2)
            bytes.push_back(static_cast<std::byte>(std::stoi(line.substr(at, 2), nullptr, 16)));
        return bytes;
    }
    ADD_FAILURE() << "no vector " << name;
    return {};
}

std::vector<std::string> keys() { return lines("keys.txt"); }

// Two longs, as their bytes.
std::vector<std::string> longs() {
    std::vector<std::string> all;
    for (const std::int64_t each : {std::int64_t{-7}, std::int64_t{1234567890123}}) {
        std::string bytes(8, '\0');
        std::memcpy(bytes.data(), &each, 8);
        all.push_back(bytes);
    }
    return all;
}

// The texts of the test have characters below U+10000 only.
std::string utf16(const std::string& utf8) {
    std::string out;
    for (std::size_t at = 0; at < utf8.size();) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(utf8[at + i]); };
        unsigned character = byte(0);
        std::size_t size = 1;
        if (character >= 0xe0) {
            character = (character & 15U) << 12 | (byte(1) & 63U) << 6 | (byte(2) & 63U), size = 3;
        } else if (character >= 0xc0) {
            character = (character & 31U) << 6 | (byte(1) & 63U), size = 2;
        }
        out += static_cast<char>(character & 255);
        out += static_cast<char>(character >> 8);
        at += size;
    }
    return out;
}

std::vector<std::string> together(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// An empty filter of the same size: the vector without its bits.
std::unique_ptr<foreign_filter> emptied(const std::vector<std::byte>& bytes, std::size_t head,
                                        std::size_t tail = 0) {
    auto none = bytes;
    std::fill(none.begin() + static_cast<std::ptrdiff_t>(head),
              none.end() - static_cast<std::ptrdiff_t>(tail), std::byte{0});
    return std::move(*foreign_filter::from_bytes(none));
}

void expect_vector(const std::string& name, dialect which, std::size_t head,
                   const std::vector<std::string>& with) {
    SCOPED_TRACE(name);
    const auto bytes = vector_of(name);
    EXPECT_EQ(foreign_filter::recognise(bytes), which);
    const auto read = foreign_filter::from_bytes(bytes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*(*read)->to_bytes(), bytes);
    const auto built = emptied(bytes, head);
    for (const std::string& key : with) {
        EXPECT_TRUE((*read)->may_contain(as_byte_view(key))) << key;
        EXPECT_FALSE(built->may_contain(as_byte_view(key))) << key;
        ASSERT_TRUE(built->insert(as_byte_view(key)));
    }
    EXPECT_EQ(*built->to_bytes(), bytes);
}

TEST(foreign_filter, builds_and_reads_what_java_wrote) {
    expect_vector("spark_V1", dialect::spark_v1, 12, together(keys(), longs()));
    expect_vector("spark_V2", dialect::spark_v2, 16, together(keys(), longs()));
    expect_vector("guava64", dialect::guava_64, 6, keys());
    expect_vector("guava64_long", dialect::guava_64, 6, longs());
    expect_vector("guava32", dialect::guava_32, 6, keys());
    std::vector<std::string> wide;
    for (const std::string& key : keys()) wide.push_back(utf16(key));
    expect_vector("guava64_utf16", dialect::guava_64, 6, wide);
    for (const char* hash : {"0", "1"}) {
        expect_vector(std::string("hadoop_bf_") + hash, dialect::hadoop, 13, keys());
        expect_vector(std::string("hadoop_cbf_") + hash, dialect::hadoop_counting, 13, keys());
    }
}

TEST(foreign_filter, builds_what_the_bloom_tool_wrote) {
    const std::string text = contents("dcso.bloom");
    const auto view = as_byte_view(text);
    EXPECT_EQ(foreign_filter::recognise(view), dialect::dcso);
    const auto built = *foreign_filter::make(dialect::dcso, 100, 0.01);
    for (const std::string& key : keys()) ASSERT_TRUE(built->insert(as_byte_view(key)));
    EXPECT_EQ(*built->to_bytes(), std::vector<std::byte>(view.begin(), view.end()));
    EXPECT_EQ(built->about().items, keys().size());
}

// The block filter of the genesis block of Bitcoin's test network, from the vectors of BIP 158: one output
// script, and the hash of the block, whose first 16 bytes are the key.
TEST(foreign_filter, builds_the_set_of_the_first_block) {
    const std::string hex_script =
        "4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de"
        "5c384df7"
        "ba0b8d578a4c702b6bf11d5fac";
    const std::string hex_block = "43497fd7f826957108f4a30fd9cec3aeba79972084e90ead01ea330900000000";
    const auto bytes_of = [](const std::string& hex) {
        std::vector<std::byte> bytes;
        for (std::size_t at = 0; at < hex.size(); at += 2)
            bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(at, 2), nullptr, 16)));
        return bytes;
    };
    const auto block = bytes_of(hex_block), script = bytes_of(hex_script);
    const dialect_options with{.key = hash_seed{load_little<std::uint64_t>(block.data()),
                                                load_little<std::uint64_t>(block.data() + 8)}};
    const auto built = *foreign_filter::make(dialect::bip158, 1, 0.5, with);
    ASSERT_TRUE(built->insert(script));
    EXPECT_EQ(*built->to_bytes(), bytes_of("019dfca8"));
    const auto read = *foreign_filter::from_bytes(bytes_of("019dfca8"), dialect::bip158, with);
    EXPECT_TRUE(read->may_contain(script));
    EXPECT_FALSE(read->insert(block));
    EXPECT_FALSE(foreign_filter::from_bytes(bytes_of("019dfca8"), dialect::bip158));
}

// Columns s of text, l of longs and d of 32-bit integers, in one row group.
TEST(foreign_filter, asks_a_column_of_a_parquet_file) {
    const std::string file = contents("duckdb_sbbf.parquet");
    EXPECT_TRUE(foreign_filter::is_parquet_file(as_byte_view(file)));
    const auto column = foreign_filter::of_parquet_column(as_byte_view(file), "s");
    ASSERT_TRUE(column) << column.error().text();
    for (int i = 0; i < 50; ++i)
        EXPECT_TRUE((*column)->may_contain(as_byte_view("key" + std::to_string(i)))) << i;
    int found = 0;
    for (int i = 50; i < 1050; ++i) found += (*column)->may_contain(as_byte_view("key" + std::to_string(i)));
    const double rate = (*column)->about().false_positive_rate;
    EXPECT_LE(found, 1000 * rate + 6 * std::sqrt(1000 * rate) + 1);
    // The filter alone, as it stands there, and built from its values.
    const auto bytes = *(*column)->to_bytes();
    EXPECT_EQ(foreign_filter::recognise(bytes), dialect::parquet);
    auto none = bytes;
    std::fill(none.end() - static_cast<std::ptrdiff_t>((*column)->about().bits / 8), none.end(),
              std::byte{0});
    const auto built = *foreign_filter::from_bytes(none);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(built->insert(as_byte_view("key" + std::to_string(i))));
    EXPECT_EQ(*built->to_bytes(), bytes);

    const auto longs_of = foreign_filter::of_parquet_column(as_byte_view(file), "l");
    ASSERT_TRUE(longs_of) << longs_of.error().text();
    for (std::uint64_t i = 0; i < 50; ++i)
        EXPECT_TRUE((*longs_of)->may_contain(byte_view(key_bytes(i)))) << i;

    EXPECT_EQ((*column)->keys(), key_kind::text);
    EXPECT_EQ((*longs_of)->keys(), key_kind::integers);
    const auto shorter = foreign_filter::of_parquet_column(as_byte_view(file), "d");
    ASSERT_TRUE(shorter) << shorter.error().text();
    EXPECT_EQ((*shorter)->keys(), key_kind::integers);
    for (std::uint64_t i = 0; i < 50; ++i) {
        EXPECT_TRUE((*shorter)->may_contain(byte_view(key_bytes(i)))) << i;
        EXPECT_TRUE((*shorter)->may_contain(byte_view(key_bytes(i)).first(4))) << i;
        EXPECT_FALSE((*shorter)->may_contain(byte_view(key_bytes(i | std::uint64_t{1} << 40)))) << i;
    }
    const auto other = foreign_filter::of_parquet_column(as_byte_view(file), "x");
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("s, l"), std::string::npos) << other.error().message;
    for (std::size_t size = 0; size < file.size(); ++size)
        EXPECT_FALSE(foreign_filter::of_parquet_column(as_byte_view(file.substr(0, size)), "s"));
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
        auto bad = file;
        for (int change = 0; change < 2; ++change) bad[random() % bad.size()] = static_cast<char>(random());
        (void)foreign_filter::of_parquet_column(as_byte_view(bad), "s");
    }
}

// What the dialect leaves open.
dialect_options some_options(dialect which) {
    return {.seed = which == dialect::spark_v2 ? 42U : 0U,
            .key = which == dialect::bip158 ? std::optional(hash_seed{1, 2}) : std::nullopt};
}

constexpr std::array all_dialects = members<dialect>;

// A digest of Squid has four hashes, and at most 255 bits per entry: not less than this.
constexpr double rate = 0.01;

TEST(foreign_filter, finds_what_it_was_given_in_every_dialect) {
    std::mt19937_64 random(5);
    for (const dialect which : all_dialects) {
        SCOPED_TRACE(name_of(which));
        for (const std::uint64_t items : {1u, 10u, 2000u}) {
            const auto built = *foreign_filter::make(which, items, rate, some_options(which));
            EXPECT_EQ(built->speaks(), which);
            std::unordered_set<std::string> in;
            for (std::uint64_t i = 0; i < items; ++i) {
                std::string key(random() % 40, ' ');
                for (char& each : key) each = static_cast<char>(random());
                in.insert(key);
                ASSERT_TRUE(built->insert(as_byte_view(key)));
            }
            const auto bytes = *built->to_bytes();
            const auto read = foreign_filter::from_bytes(bytes, which, some_options(which));
            ASSERT_TRUE(read) << read.error().text();
            EXPECT_EQ(*(*read)->to_bytes(), bytes);
            for (const std::string& key : in) {
                EXPECT_TRUE(built->may_contain(as_byte_view(key)));
                EXPECT_TRUE((*read)->may_contain(as_byte_view(key)));
            }
            if (which != dialect::bip158 && which != dialect::leveldb)
                EXPECT_EQ(foreign_filter::recognise(bytes), which);
        }
    }
}

// 20,000 lookups of absent keys each; six standard deviations are one false alarm in 500 million. Positions
// of double hashing depend on each other, which a filter for 2000 items shows by some per cent: the plan has
// 25 %.
TEST(foreign_filter, has_the_rate_that_its_bits_say) {
    for (const dialect which : all_dialects) {
        SCOPED_TRACE(name_of(which));
        const auto filter = *foreign_filter::make(which, 2000, rate, some_options(which));
        for (int i = 0; i < 2000; ++i) ASSERT_TRUE(filter->insert(as_byte_view(std::to_string(i))));
        const auto facts = filter->about();
        int found = 0;
        constexpr int asked = 20'000;
        for (int i = 0; i < asked; ++i) found += filter->may_contain(as_byte_view("x" + std::to_string(i)));
        const double expected = asked * facts.false_positive_rate;
        EXPECT_NEAR(found, expected, 6 * std::sqrt(expected) + 0.25 * expected + 1);
        EXPECT_LE(facts.false_positive_rate, 1.3 * rate);
    }
}

TEST(foreign_filter, a_union_has_the_keys_of_both) {
    for (const dialect which : all_dialects) {
        SCOPED_TRACE(name_of(which));
        const auto a = *foreign_filter::make(which, 200, rate, some_options(which));
        const auto b = *foreign_filter::make(which, 200, rate, some_options(which));
        const auto all = *foreign_filter::make(which, 200, rate, some_options(which));
        for (int i = 0; i < 200; ++i) {
            ASSERT_TRUE((i % 2 ? a : b)->insert(as_byte_view(std::to_string(i))));
            ASSERT_TRUE(all->insert(as_byte_view(std::to_string(i))));
        }
        if (which == dialect::hadoop_retouched) {
            EXPECT_FALSE(a->unite(*b));
            continue;
        }
        ASSERT_TRUE(a->unite(*b));
        for (int i = 0; i < 200; ++i) EXPECT_TRUE(a->may_contain(as_byte_view(std::to_string(i))));
        // Rows of Hadoop and links of Redis fill in an order, and DCSO counts keys that may be there once
        // only.
        if (which != dialect::hadoop_dynamic && which != dialect::redis && which != dialect::dcso)
            EXPECT_EQ(*a->to_bytes(), *all->to_bytes());
        const auto other = *foreign_filter::make(which, 5000, rate, some_options(which));
        if (which != dialect::bip158) EXPECT_FALSE(a->unite(*other));
        const dialect next = which == dialect::spark_v1 ? dialect::spark_v2 : dialect::spark_v1;
        EXPECT_FALSE(a->unite(**foreign_filter::make(next, 200, rate, some_options(next))));
    }
}

TEST(foreign_filter, a_chain_grows) {
    const auto chain = *foreign_filter::make(dialect::redis, 100, rate);
    const auto rows = *foreign_filter::make(dialect::hadoop_dynamic, 100, rate);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(chain->insert(as_byte_view(std::to_string(i))));
        ASSERT_TRUE(rows->insert(as_byte_view(std::to_string(i))));
    }
    for (int i = 0; i < 1000; ++i) {
        EXPECT_TRUE(chain->may_contain(as_byte_view(std::to_string(i))));
        EXPECT_TRUE(rows->may_contain(as_byte_view(std::to_string(i))));
    }
    EXPECT_LT(chain->about().false_positive_rate, rate);
    EXPECT_LT(rows->about().false_positive_rate, 10 * 1.2 * rate);
}

TEST(foreign_filter, becomes_another_only_where_bits_can_be_kept) {
    const auto plain = *foreign_filter::make(dialect::hadoop, 100, rate);
    const auto counting = *foreign_filter::make(dialect::hadoop_counting, 100, rate);
    const auto rows = *foreign_filter::make(dialect::hadoop_dynamic, 100, rate);
    for (int i = 0; i < 100; ++i)
        for (const auto* each : {&plain, &counting, &rows})
            ASSERT_TRUE((*each)->insert(as_byte_view(std::to_string(i))));
    EXPECT_EQ(*counting->to_bytes(dialect::hadoop), *plain->to_bytes());
    EXPECT_EQ(*rows->to_bytes(dialect::hadoop), *plain->to_bytes());
    EXPECT_EQ(*plain->to_bytes(dialect::hadoop), *plain->to_bytes());
    EXPECT_FALSE(plain->to_bytes(dialect::hadoop_counting));
    EXPECT_FALSE(plain->to_bytes(dialect::spark_v1));
    ASSERT_TRUE(rows->insert(as_byte_view("one too many")));
    EXPECT_FALSE(rows->to_bytes(dialect::hadoop));
}

// Whatever is cut off or changed gives an error or a filter that is written as it was read, never anything
// else.
TEST(foreign_filter, takes_damage) {
    std::mt19937_64 random(9);
    for (const dialect which : all_dialects) {
        SCOPED_TRACE(name_of(which));
        const auto built = *foreign_filter::make(which, 10, rate, some_options(which));
        for (int i = 0; i < 10; ++i) ASSERT_TRUE(built->insert(as_byte_view(std::to_string(i))));
        const auto good = *built->to_bytes();
        for (std::size_t size = 0; size < good.size(); ++size) {
            const auto read =
                foreign_filter::from_bytes(byte_view(good).first(size), which, some_options(which));
            if (which != dialect::leveldb) EXPECT_FALSE(read) << size;
        }
        for (int i = 0; i < 2000; ++i) {
            auto bad = good;
            for (int change = 0; change < 3; ++change)
                bad[random() % (i % 2 ? bad.size() : std::min<std::size_t>(bad.size(), 64))] =
                    static_cast<std::byte>(random());
            (void)foreign_filter::recognise(bad);
            const auto read = foreign_filter::from_bytes(bad, which, some_options(which));
            if (!read) continue;
            (void)(*read)->may_contain(as_byte_view("a"));
            (void)(*read)->about();
            (void)(*read)->insert(as_byte_view("a"));
        }
    }
}

TEST(foreign_filter, refuses_what_a_dialect_cannot_be) {
    constexpr std::uint64_t many = std::uint64_t{1} << 40;
    for (const dialect which :
         {dialect::spark_v1, dialect::guava_64, dialect::hadoop, dialect::parquet, dialect::squid,
          dialect::leveldb, dialect::bip158, dialect::rocksdb, dialect::cassandra})
        EXPECT_FALSE(foreign_filter::make(which, many, rate, some_options(which))) << name_of(which);
    EXPECT_FALSE(foreign_filter::make(dialect::spark_v1, 0, rate));
    EXPECT_FALSE(foreign_filter::make(dialect::spark_v1, 10, 1));
    EXPECT_FALSE(foreign_filter::make(dialect::bip158, 10, rate));
    EXPECT_FALSE(foreign_filter::make(dialect::squid, 10, 1e-9));
    EXPECT_FALSE(foreign_filter::from_bytes(as_byte_view("some text")));
    EXPECT_FALSE(foreign_filter::recognise({}));
}

}  // namespace
}  // namespace posy
