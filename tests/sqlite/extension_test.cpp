// The extension through SQLite's C interface: aggregates, questions, NULLs, byte forms of keys, errors.
#include <gtest/gtest.h>

#include "database.hpp"
#include "posy/message.hpp"
#include "posy/plan.hpp"

namespace posy {
namespace {

byte_view bytes_of(const std::string& blob) { return as_byte_view(blob); }

TEST(SqliteExtension, AggregatesAreTheFiltersOfTheLibrary) {
    database db;
    number_rows(db, 10'000);
    const auto plan = *choose({.items = 10'000, .rate = 0.001});
    auto filter = *bloom_filter::make(plan.geometry());
    filter.set_planned(plan.promise());
    std::vector<digest> digests;
    for (int i = 1; i <= 10'000; ++i) digests.push_back(filter.hash()("user" + std::to_string(i)));
    filter.insert(digests);
    const auto expected = to_bytes(filter);
    const std::string made = db.ask("SELECT filter_agg('user' || x, 10000, 0.001) FROM t");
    EXPECT_TRUE(std::ranges::equal(bytes_of(made), expected));
    // The parts of the rows, united.
    const std::string parts = db.ask(
        "SELECT filter_union(f) FROM (SELECT filter_agg('user' || x, 10000, 0.001) AS f FROM t GROUP BY x % "
        "7)");
    EXPECT_EQ(std::get<bloom_filter>(from_bytes(bytes_of(parts))->body), filter);

    const hasher hash;
    digests.clear();
    std::vector<std::uint64_t> values;
    for (int i = 1; i <= 10'000; ++i) {
        digests.push_back(hash(std::to_string(i)));
        values.push_back(static_cast<std::uint64_t>(i) % 100);
    }
    const auto sealed = to_bytes(*sealed_filter::make(hash, digests, {.rate = 0.01}));
    EXPECT_TRUE(std::ranges::equal(bytes_of(db.ask("SELECT seal_agg(x, 0.01) FROM t")), sealed));
    const auto map = to_bytes(*bloomier_map::make(hash, digests, values, {7, 0.01}));
    EXPECT_TRUE(std::ranges::equal(bytes_of(db.ask("SELECT map_agg(x, x % 100, 0.01) FROM t")), map));
    EXPECT_EQ(
        db.ask("SELECT min(lookup(m, x) = x % 100) FROM t, (SELECT map_agg(x, x % 100, 0.01) AS m FROM t)"),
        "1");
    EXPECT_EQ(db.ask("SELECT estimate(count_min_agg(x % 10, 0.001, 0.01), 7) FROM t"), "1000");
    EXPECT_EQ(db.ask("SELECT estimate(count_min_union(s), 7) FROM "
                     "(SELECT count_min_agg(x % 10, 0.001, 0.01) AS s FROM t GROUP BY x % 3)"),
              "1000");
}

TEST(SqliteExtension, EveryMemberIsFoundInEveryKind) {
    database db;
    number_rows(db, 2000);
    for (const char* aggregate : {"filter_agg(x, 2000, 0.01)", "seal_agg(x, 0.01)", "map_agg(x, x, 0.01)",
                                  "count_min_agg(x, 0.0001, 0.01)"}) {
        db.ask("DROP TABLE IF EXISTS f");
        db.ask(std::string("CREATE TABLE f AS SELECT ") + aggregate + " AS f FROM t");
        EXPECT_EQ(db.ask("SELECT sum(may_contain(f, x)) FROM t, f"), "2000") << aggregate;
        // 20 of 2000 others are expected, none in the sketch; 60 would be 9 deviations above.
        EXPECT_LT(std::stoi(db.ask("SELECT sum(may_contain(f, x + 2000)) FROM t, f")), 60) << aggregate;
    }
}

TEST(SqliteExtension, QuestionsAboutAFilter) {
    database db;
    number_rows(db, 3000);
    db.ask(
        "CREATE TABLE f AS SELECT (SELECT filter_agg(x, 3000, 0.001) FROM t WHERE x <= 2000) AS a, "
        "(SELECT filter_agg(x, 3000, 0.001) FROM t WHERE x > 1000) AS b");
    EXPECT_EQ(db.ask("SELECT items(a) FROM f"), "2000");
    EXPECT_NEAR(std::stod(db.ask("SELECT intersection_size(a, b) FROM f")), 1000, 60);
    EXPECT_LT(std::stod(db.ask("SELECT rate(a) FROM f")), 0.001);
    EXPECT_EQ(db.ask("SELECT json_extract(info(a), '$.kind') || json_extract(info(a), '$.items') FROM f"),
              "filter2000");
    EXPECT_EQ(db.ask("SELECT json_extract(info(a), '$.message_bytes') = length(a) FROM f"), "1");
    for (const char* aggregate : {"seal_agg(x, 0.01)", "map_agg(x, 1, 0.01)", "count_min_agg(x, 0.01, 0.01)"})
        EXPECT_EQ(db.ask(std::string("SELECT json_valid(info(") + aggregate + ")) FROM t"), "1") << aggregate;
}

// Text is its UTF-8, whatever the encoding of the database; numbers are as they are printed.
TEST(SqliteExtension, KeysAreTheLinesOfTheTool) {
    database db;
    db.ask("PRAGMA encoding = 'UTF-16'");
    const auto contains = [&](const std::string& inserted, const std::string& asked) {
        return db.ask("SELECT may_contain(filter_agg(" + inserted + ", 1, 1e-9), " + asked + ")");
    };
    EXPECT_EQ(contains("7", "'7'"), "1");
    EXPECT_EQ(contains("-9223372036854775808", "'-9223372036854775808'"), "1");
    EXPECT_EQ(contains("1.5", "'1.5'"), "1");
    EXPECT_EQ(contains("'é'", "x'c3a9'"), "1");
    EXPECT_EQ(contains("''", "x''"), "1");
    EXPECT_EQ(contains("'A'", "'a'"), "0");
    EXPECT_EQ(contains("char(0)", "x'00'"), "1");
}

TEST(SqliteExtension, Nulls) {
    database db;
    number_rows(db, 10);
    EXPECT_EQ(db.ask("SELECT may_contain(filter_agg(x, 10, 0.01), NULL) FROM t"), "NULL");
    for (const char* question : {"may_contain(NULL, 1)", "lookup(NULL, 1)", "estimate(NULL, 1)",
                                 "items(NULL)", "rate(NULL)", "info(NULL)", "intersection_size(NULL, NULL)"})
        EXPECT_EQ(db.ask(std::string("SELECT ") + question), "NULL") << question;
    EXPECT_EQ(db.ask("SELECT items(filter_agg(nullif(x, 3), 10, 0.01)) FROM t"), "9");
    EXPECT_EQ(db.ask("SELECT items(filter_agg(NULL, 10, 0.01)) FROM t"), "0");
    EXPECT_EQ(db.ask("SELECT filter_agg(x, 10, 0.01) FROM t WHERE x > 10"), "NULL");
    EXPECT_EQ(db.ask("SELECT filter_union(NULL) FROM t"), "NULL");
    EXPECT_EQ(db.ask("SELECT lookup(map_agg(x, x, 1e-9), 'absent') FROM t"), "NULL");
}

TEST(SqliteExtension, ErrorsSayWhatIsWrong) {
    database db;
    number_rows(db, 10);
    const std::vector<std::pair<const char*, const char*>> wrong{
        {"SELECT may_contain(x'00', 1)", "not a Posy message"},
        {"SELECT may_contain('text', 1)", "a filter is a BLOB"},
        {"SELECT items(7)", "a filter is a BLOB"},
        {"SELECT filter_agg(x, x, 0.01) FROM t", "changes from row to row"},
        {"SELECT filter_agg(x, 'many', 0.01) FROM t", "must be an INTEGER"},
        {"SELECT filter_agg(x, -1, 0.01) FROM t", "must be an INTEGER"},
        {"SELECT filter_agg(x, 10, 2) FROM t", "rate"},
        {"SELECT filter_agg(x, 1000000000000000, 1e-9) FROM t", "at most 2^40"},
        {"SELECT seal_agg(x, 0) FROM t", "rate"},
        {"SELECT map_agg(x % 3, x, 0.01) FROM t", "one key has two values"},
        {"SELECT map_agg(x, -x, 0.01) FROM t", "must be an INTEGER"},
        {"SELECT lookup(seal_agg(x, 0.01), 1) FROM t", "has no values"},
        {"SELECT estimate(seal_agg(x, 0.01), 1) FROM t", "counts no keys"},
        {"SELECT filter_union(seal_agg) FROM (SELECT seal_agg(x, 0.01) AS seal_agg FROM t GROUP BY x % 2)",
         "cannot be united"},
        {"SELECT intersection_size(filter_agg(x, 10, 0.01), filter_agg(x, 11000, 0.01)) FROM t",
         "only filters of one geometry"},
    };
    for (const auto& [sql, saying] : wrong) {
        const std::string error = db.error_of(sql);
        EXPECT_EQ(error.substr(0, 6), "posy: ") << sql << ": " << error;
        EXPECT_NE(error.find(saying), std::string::npos) << sql << ": " << error;
    }
    EXPECT_EQ(db.ask("SELECT count(*) FROM t"), "10");
}

// What is kept of one value must not answer for the next: values that alternate, some of the same size.
TEST(SqliteExtension, AKeptFilterAnswersForItself) {
    database db;
    number_rows(db, 50);
    db.ask("CREATE TABLE f AS SELECT x AS n, filter_agg(x, 10, 1e-9) AS f FROM t GROUP BY x");
    EXPECT_EQ(db.ask("SELECT sum(may_contain(f, x)) FROM t, f"), "50");
    EXPECT_EQ(db.ask("SELECT sum(may_contain(f, x)) FROM t, f WHERE x = n"), "50");
    const std::string first = db.ask("SELECT f FROM f WHERE n = 1"),
                      second = db.ask("SELECT f FROM f WHERE n = 2");
    const std::string sql =
        "SELECT group_concat(may_contain(?1, x) || may_contain(?2, x), ' ') FROM t WHERE x < 4";
    EXPECT_EQ(db.ask(sql, {bytes_of(first), bytes_of(second)}), "10 01 00");
    EXPECT_EQ(db.ask(sql, {bytes_of(second), bytes_of(first)}), "01 10 00");
}

// A filter of the same size under another seed is another geometry.
TEST(SqliteExtension, AnotherSeedIsRefused) {
    database db;
    const auto with_seed = [](std::uint64_t seed) {
        return to_bytes(*bloom_filter::make({512, 4, layout_id::blocked, hash_family::fold64, {seed}}));
    };
    const auto a = with_seed(1), b = with_seed(2);
    EXPECT_NE(db.error_of("SELECT intersection_size(?1, ?2)", {a, b}).find("seed"), std::string::npos);
    EXPECT_NE(
        db.error_of("SELECT filter_union(f) FROM (SELECT ?1 AS f UNION ALL SELECT ?2)", {a, b}).find("seed"),
        std::string::npos);
}

}  // namespace
}  // namespace posy
