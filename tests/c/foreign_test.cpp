// Filters of other programs through C: every dialect, its own files, and refusals.
#include "owned.hpp"
#include "posy/base/names.hpp"
#include "posy/dialect/foreign_filter.hpp"

namespace posy::testing {
namespace {

std::string foreign_bytes(const owned<posy_foreign>& foreign, int dialect = 0) {
    return bytes_of(posy_foreign_to_bytes, foreign, dialect);
}

posy_foreign_info foreign_info(const owned<posy_foreign>& foreign) {
    posy_foreign_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(posy_foreign_info_of(foreign.get(), &info, nullptr), POSY_OK);
    return info;
}

TEST(c_foreign, has_the_numbers_and_names_of_cpp) {
    for (const dialect each : members<dialect>) {
        const int number = posy_dialect_named(std::string(name_of(each)).c_str());
        EXPECT_EQ(number, static_cast<int>(each) + 1);
        EXPECT_EQ(posy_dialect_name(number), name_of(each));
    }
    EXPECT_EQ(posy_dialect_named("spark-v2"), POSY_SPARK_V2);
    EXPECT_EQ(posy_dialect_named("leveldb"), POSY_LEVELDB);
    EXPECT_EQ(posy_dialect_named("rocksdb"), POSY_ROCKSDB);
    EXPECT_EQ(posy_dialect_named("cassandra"), POSY_CASSANDRA);
    EXPECT_EQ(posy_dialect_named("nothing"), 0);
    EXPECT_EQ(posy_dialect_named(nullptr), 0);
    for (const int none : {-1, 0, POSY_CASSANDRA + 1, 256, 257, 1000})
        EXPECT_EQ(posy_dialect_name(none), nullptr);
}

TEST(c_foreign, has_the_bytes_of_cpp) {
    const scratch folder;
    const auto path = folder / "foreign";
    const auto all = words(200);
    const auto pieces = bytes_in(all);
    const auto keys = posy_keys_bytes(pieces.data(), pieces.size());
    posy_dialect_options options{};
    options.struct_size = sizeof options;
    options.has_key = 1;
    options.key_low = 11;
    options.key_high = 12;
    for (const dialect each : members<dialect>) {
        const int number = static_cast<int>(each) + 1;
        SCOPED_TRACE(posy_dialect_name(number));
        const bool keyed = each == dialect::bip158;
        dialect_options in_cpp;
        if (keyed) in_cpp.key = hash_seed{11, 12};
        auto cpp = *foreign_filter::make(each, 300, 0.01, in_cpp);
        for (const auto& word : all) *cpp->insert(as_byte_view(word));
        *cpp->insert(key_bytes(7));

        const auto* const how = keyed ? &options : nullptr;
        const auto c = made<posy_foreign>(posy_foreign_make, number, 300u, 0.01, how);
        ASSERT_EQ(posy_foreign_insert_many(c.get(), &keys, nullptr), POSY_OK);
        ASSERT_EQ(posy_foreign_insert_u64(c.get(), 7, nullptr), POSY_OK);
        const auto bytes = foreign_bytes(c);
        EXPECT_EQ(bytes, as_string(*cpp->to_bytes()));

        posy_error why;
        ASSERT_EQ(posy_foreign_save(c.get(), path.c_str(), 0, &why), POSY_OK) << why.text;
        const int told = keyed || each == dialect::leveldb ? number : 0;
        const auto loaded = made<posy_foreign>(posy_foreign_load, path.c_str(), told, how);
        EXPECT_EQ(foreign_bytes(loaded), bytes);
        EXPECT_EQ(foreign_info(loaded).dialect, static_cast<std::uint32_t>(number));
        EXPECT_EQ(foreign_info(loaded).hashes, cpp->about().hashes);
        const auto read = [&] {  // from bytes that are gone afterwards
            const std::vector<char> copy(bytes.begin(), bytes.end());
            return made<posy_foreign>(posy_foreign_from_bytes, copy.data(), copy.size(), told, how);
        }();
        const auto answers = std::make_unique<bool[]>(all.size());
        std::size_t yes = 0;
        ASSERT_EQ(posy_foreign_may_contain_many(read.get(), &keys, answers.get(), &yes, nullptr), POSY_OK);
        EXPECT_EQ(yes, all.size());
        EXPECT_EQ(posy_foreign_may_contain_u64(read.get(), 7), 1);
        EXPECT_EQ(posy_foreign_may_contain_text(read.get(), "key199"), 1);
        // Cut short they are refused or are another filter; never a crash.
        for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
            const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
            posy_foreign* part = nullptr;
            posy_foreign_from_bytes(cut.data(), size, told, how, &part, nullptr);
            if (part) posy_foreign_may_contain_u64(part, 7);
            posy_foreign_free(part);
        }
    }
}

TEST(c_foreign, unites_and_converts) {
    const auto make = [](int dialect, const char* key) {
        auto filter = made<posy_foreign>(posy_foreign_make, dialect, 100u, 0.01, nullptr);
        EXPECT_EQ(posy_foreign_insert_text(filter.get(), key, nullptr), POSY_OK);
        return filter;
    };
    const auto a = make(POSY_GUAVA_64, "a"), b = make(POSY_GUAVA_64, "b"), spark = make(POSY_SPARK_V1, "b");
    posy_error why;
    ASSERT_EQ(posy_foreign_unite(a.get(), b.get(), &why), POSY_OK) << why.text;
    EXPECT_EQ(posy_foreign_may_contain_text(a.get(), "b"), 1);
    EXPECT_EQ(posy_foreign_unite(a.get(), spark.get(), &why), POSY_MISMATCH);
    const auto counting = make(POSY_HADOOP_COUNTING, "a");
    EXPECT_FALSE(foreign_bytes(counting, POSY_HADOOP).empty());
    void* bytes = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(posy_foreign_to_bytes(a.get(), POSY_SPARK_V1, &bytes, &size, &why), POSY_MISMATCH) << why.text;
    EXPECT_EQ(bytes, nullptr);
    EXPECT_EQ(posy_foreign_to_bytes(a.get(), 99, &bytes, &size, &why), POSY_INVALID);
}

TEST(c_foreign, asks_a_column_of_a_parquet_file) {
    const std::string path = POSY_TESTDATA "/dialects/duckdb_sbbf.parquet";
    const auto column = made<posy_foreign>(posy_foreign_load_parquet, path.c_str(), "s");
    EXPECT_EQ(foreign_info(column).dialect, std::uint32_t{POSY_PARQUET});
    // Keys of the column's type alone: text in s, integers of four bytes in d.
    EXPECT_EQ(posy_foreign_may_contain_text(column.get(), "key7"), 1);
    EXPECT_EQ(posy_foreign_may_contain_u64(column.get(), 7), -1);
    const auto integers = made<posy_foreign>(posy_foreign_load_parquet, path.c_str(), "d");
    EXPECT_EQ(posy_foreign_may_contain_u64(integers.get(), 7), 1);
    EXPECT_EQ(posy_foreign_may_contain_text(integers.get(), "key7"), -1);
    const std::uint64_t values[] = {1, 2, 3};
    const auto keys = posy_keys_u64(values, 3);
    bool answers[3];
    posy_error wrong;
    EXPECT_EQ(posy_foreign_may_contain_many(integers.get(), &keys, answers, nullptr, &wrong), POSY_OK);
    EXPECT_TRUE(answers[0] && answers[1] && answers[2]);
    EXPECT_EQ(posy_foreign_may_contain_many(column.get(), &keys, answers, nullptr, &wrong), POSY_INVALID);
    EXPECT_NE(std::string(wrong.text).find("the column s has no integers"), std::string::npos) << wrong.text;
    // A copy that would say no to its keys is not made.
    void* bytes = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(posy_foreign_to_bytes(integers.get(), 0, &bytes, &size, &wrong), POSY_UNSUPPORTED);
    EXPECT_EQ(posy_foreign_to_bytes(integers.get(), POSY_PARQUET, &bytes, &size, &wrong), POSY_UNSUPPORTED);
    const scratch folder;
    EXPECT_EQ(posy_foreign_save(integers.get(), (folder / "copy").c_str(), 0, &wrong), POSY_UNSUPPORTED);
    EXPECT_NE(std::string(wrong.text).find("keep the Parquet file"), std::string::npos) << wrong.text;
    EXPECT_FALSE(foreign_bytes(column).empty());
    EXPECT_NE(refused<posy_foreign>(posy_foreign_load_parquet, path.c_str(), "none").status, POSY_OK);
    const auto why = refused<posy_foreign>(posy_foreign_load_parquet, "/proc/nowhere", "s");
    EXPECT_EQ(why.status, POSY_INPUT_OUTPUT);
    EXPECT_NE(std::string(why.text).find("/proc/nowhere"), std::string::npos);
}

TEST(c_foreign, refuses_what_cannot_be) {
    EXPECT_EQ(refused<posy_foreign>(posy_foreign_make, 0, 100u, 0.01, nullptr).status, POSY_INVALID);
    EXPECT_EQ(refused<posy_foreign>(posy_foreign_make, 77, 100u, 0.01, nullptr).status, POSY_INVALID);
    EXPECT_EQ(refused<posy_foreign>(posy_foreign_make, -1, 100u, 0.01, nullptr).status, POSY_INVALID);
    EXPECT_EQ(refused<posy_foreign>(posy_foreign_make, int{POSY_GUAVA_64}, 100u, 7.0, nullptr).status,
              POSY_INVALID);
    posy_dialect_options seeded{};
    seeded.struct_size = sizeof seeded;
    seeded.seed = 5;
    EXPECT_EQ(refused<posy_foreign>(posy_foreign_make, int{POSY_SPARK_V1}, 100u, 0.01, &seeded).status,
              POSY_INVALID);
    EXPECT_NE(refused<posy_foreign>(posy_foreign_from_bytes, "nothing", 7u, 0, nullptr).status, POSY_OK);
    EXPECT_EQ(refused<posy_foreign>(posy_foreign_load, "/proc/nowhere", 0, nullptr).status,
              POSY_INPUT_OUTPUT);
    EXPECT_NE(refused<posy_foreign>(posy_foreign_load, "/dev/null", 0, nullptr).status, POSY_OK);
}

}  // namespace
}  // namespace posy::testing
