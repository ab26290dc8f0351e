// What is said of bytes, options and conversions that are refused.
#include <array>

#include "needed_options.hpp"
#include "posy/base/names.hpp"
#include "posy/dialect/foreign_filter.hpp"
#include "support.hpp"

namespace posy {
namespace {

// An option that would do nothing is an error, where a filter is made and where it is read.
TEST(foreign_refusals, options_of_another_dialect) {
    int taken = 0;
    for (const dialect which : members<dialect>) {
        SCOPED_TRACE(name_of(which));
        const auto bytes = *(*foreign_filter::make(which, 10, 0.01, needed_options(which)))->to_bytes();
        const auto takes = [&](dialect_options o) {
            if (which == dialect::bip158) o.key = hash_seed{1, 2};
            const bool made = foreign_filter::make(which, 10, 0.01, o).ok();
            EXPECT_EQ(foreign_filter::from_bytes(bytes, which, o).ok(), made);
            return made;
        };
        const bool of_hadoop = name_of(which).starts_with("hadoop");
        EXPECT_EQ(takes({.seed = 5}), which == dialect::spark_v2);
        EXPECT_EQ(takes({.jenkins = true}), of_hadoop);
        EXPECT_EQ(takes({.key = hash_seed{1, 2}}), which == dialect::bip158);
        taken += takes({});
    }
    EXPECT_EQ(taken, static_cast<int>(members<dialect>.size()));
}

TEST(foreign_refusals, says_of_a_part_what_it_is_a_part_of) {
    int told = 0;
    for (const dialect which : members<dialect>) {
        SCOPED_TRACE(name_of(which));
        const auto filter = *foreign_filter::make(which, 10'000, 0.01, needed_options(which));
        for (int i = 0; i < 100; ++i) ASSERT_TRUE(filter->insert(as_byte_view(std::to_string(i))));
        const auto whole = *filter->to_bytes();
        if (whole.size() < 2000) continue;
        const auto read = foreign_filter::from_bytes(byte_view(whole).first(1000));
        ASSERT_FALSE(read);
        if (read.error().message.find("it begins as a filter of the format " + std::string(name_of(which)) +
                                      " with " + std::to_string(whole.size()) +
                                      " bytes, of which 1000 are there") == std::string::npos)
            continue;
        EXPECT_EQ(read.error().kind, error_kind::damaged);
        EXPECT_EQ(read.error().offset, 1000u);
        ++told;
    }
    // Not of leveldb, rocksdb and bip158, which have no head, and of what begins as Hadoop's plain filter:
    // its filters with counters, rows and lists.
    EXPECT_EQ(told, static_cast<int>(members<dialect>.size()) - 6);
}

TEST(foreign_refusals, says_what_is_compressed) {
    for (const auto& [head, name] :
         {std::pair("\x1f\x8b\x08 and so on", "gzip"), std::pair("\x28\xb5\x2f\xfd and so on", "zstd")}) {
        const auto why = foreign_filter::why_unknown(as_byte_view(std::string_view(head)));
        ASSERT_TRUE(why);
        EXPECT_EQ(why->message, "compressed by " + std::string(name) + "; decompress it first");
    }
    for (const char* other : {"", "\x1f", "some text", "POSY", "PAR1",
                              "\x7f"
                              "ELF and so on"})
        EXPECT_FALSE(foreign_filter::why_unknown(as_byte_view(std::string_view(other)))) << other;
}

TEST(foreign_refusals, says_why_one_does_not_become_another) {
    const auto plain = *foreign_filter::make(dialect::hadoop, 100, 0.01);
    const auto retouched = *foreign_filter::make(dialect::hadoop_retouched, 100, 0.01);
    const auto rows = *foreign_filter::make(dialect::hadoop_dynamic, 100, 0.01);
    for (int i = 0; i < 100; ++i)
        for (const auto* each : {&plain, &retouched, &rows})
            ASSERT_TRUE((*each)->insert(as_byte_view(std::to_string(i))));
    EXPECT_EQ(*retouched->to_bytes(dialect::hadoop), *plain->to_bytes());
    ASSERT_TRUE(rows->insert(as_byte_view("one more")));
    const auto why = [](const auto& filter, dialect to) { return filter->to_bytes(to).error().message; };
    EXPECT_EQ(why(rows, dialect::hadoop),
              "it has 2 rows, and the format hadoop has one; build it from the keys");
    EXPECT_NE(why(plain, dialect::hadoop_counting).find("do not tell what else"), std::string::npos);
    EXPECT_NE(why(plain, dialect::spark_v1).find("keys have other places"), std::string::npos);
    EXPECT_NE(why(*foreign_filter::make(dialect::dcso, 9, 0.1), dialect::hadoop).find("other places"),
              std::string::npos);
}

// LevelDB's hash has 32 bits: of a million items in the largest array one in 4295 other keys has the hash of
// one.
TEST(foreign_refusals, knows_the_least_rate) {
    EXPECT_NEAR(foreign_filter::least_rate(dialect::leveldb, 1'000'000), 1e6 / 4294967296.0, 1e-7);
    EXPECT_EQ(foreign_filter::least_rate(dialect::bip158, 1'000'000), 1.0 / 784931);
    EXPECT_EQ(foreign_filter::least_rate(dialect::spark_v2, 1'000'000), 0);
}

}  // namespace
}  // namespace posy
