#include "posy/gates/sqlite_table.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "against_truth.hpp"

namespace posy::gates {
namespace {

struct SqliteTable : testing::Test {
    sqlite3* db = [] {
        sqlite3* opened = nullptr;
        sqlite3_open(":memory:", &opened);
        return opened;
    }();
    ~SqliteTable() override { sqlite3_close(db); }

    void run(const std::string& sql) {
        ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    }
    void bind(sqlite3_stmt* to, const std::string& key) {
        sqlite3_bind_text(to, 1, key.data(), static_cast<int>(key.size()), SQLITE_TRANSIENT);
    }
    void bind(sqlite3_stmt* to, std::int64_t key) { sqlite3_bind_int64(to, 1, key); }
    template <class Key>
    void change(const std::string& sql, const Key& key) {
        sqlite3_stmt* made = nullptr;
        ASSERT_EQ(sqlite3_prepare_v2(db, sql.c_str(), -1, &made, nullptr), SQLITE_OK);
        bind(made, key);
        EXPECT_EQ(sqlite3_step(made), SQLITE_DONE);
        sqlite3_finalize(made);
    }
    template <class Key>
    void expect_truth_of(const std::string& type) {
        run("CREATE TABLE \"the \"\"users\" (\"a name\" " + type + " PRIMARY KEY, mail TEXT)");
        run("INSERT INTO \"the \"\"users\" VALUES (NULL, 'nobody')");
        const auto table = sqlite_table<Key>::open(db, {"the \"users", "a name", "mail"});
        ASSERT_TRUE(table) << table.error().text();
        expect_truth<Key>(
            {table->store(),
             [&](const Key& key, const std::string& value) {
                 change("INSERT OR REPLACE INTO \"the \"\"users\" VALUES (?, '" + value + "')", key);
             },
             [&](const Key& key) { change("DELETE FROM \"the \"\"users\" WHERE \"a name\" = ?", key); }},
            20'000);
    }
    template <class Key>
    void expect_refusal(const table_columns& columns, const std::string& why) {
        const auto opened = sqlite_table<Key>::open(db, columns);
        ASSERT_FALSE(opened);
        EXPECT_NE(opened.error().text().find(why), std::string::npos) << opened.error().text();
    }
};

TEST_F(SqliteTable, AnswersAsTheTableDoesForTexts) { expect_truth_of<std::string>("VARCHAR(80)"); }
TEST_F(SqliteTable, AnswersAsTheTableDoesForIntegers) { expect_truth_of<std::int64_t>("BIGINT"); }

TEST_F(SqliteTable, AnyBytesAreAKey) {
    run("CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)");
    const std::string odd("\xff\0\xc0z", 4);
    change("INSERT INTO t VALUES (?, NULL)", odd);
    auto gate = *posy::gate<std::string, std::string>::open(
        sqlite_table<std::string>::open(db, {"t", "k", "v"})->store(), {.batch = 1});
    std::optional<std::string> found;
    ASSERT_TRUE(gate.find(odd, {}, [&](const auto& answer) { found = answer; }));
    EXPECT_EQ(found, "");  // NULL is the empty text
}

TEST_F(SqliteTable, AsksForMoreThanAStatementTakes) {
    run("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)");
    run("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999) INSERT INTO t "
        "SELECT "
        "i, i FROM n");
    const auto store = sqlite_table<std::int64_t>::open(db, {"t", "k", "v"})->store();
    for (const std::size_t count : {1, 2, 3, 1000, 16'384, 16'385, 40'000}) {
        std::vector<std::int64_t> keys(count);
        for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::int64_t>(i * 7919 % 80'000);
        std::vector<std::optional<std::string>> answers(count);
        ASSERT_TRUE(store.ask(keys, answers));
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(answers[i], keys[i] < 40'000 ? std::optional(std::to_string(keys[i])) : std::nullopt);
    }
}

TEST_F(SqliteTable, RefusesColumnsWithAnotherEquality) {
    run("CREATE TABLE t (loud TEXT COLLATE NOCASE, number INTEGER, anything, decimal REAL, name TEXT)");
    expect_refusal<std::string>({"t", "loud", "name"}, "collation NOCASE");
    expect_refusal<std::string>({"t", "number", "name"},
                                "type INTEGER; these keys need a column of type TEXT");
    expect_refusal<std::string>({"t", "anything", "name"}, "type nothing");
    expect_refusal<std::int64_t>({"t", "name", "name"}, "a column of type INTEGER");
    expect_refusal<std::int64_t>({"t", "decimal", "name"}, "a column of type INTEGER");
    expect_refusal<std::int64_t>({"t", "nothing", "name"}, "no such table column");
    expect_refusal<std::int64_t>({"nothing", "number", "name"}, "no such table column");
    expect_refusal<std::int64_t>({"t", "number", "nothing"}, "no such column");
}

TEST_F(SqliteTable, ReportsAFailedQuery) {
    run("CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)");
    run("INSERT INTO t VALUES ('a', '1')");
    auto gate = *posy::gate<std::string, std::string>::open(
        sqlite_table<std::string>::open(db, {"t", "k", "v"})->store(), {.batch = 1});
    run("ALTER TABLE t RENAME TO u");
    std::optional<std::string> found;
    const auto done = gate.find("a", {}, [&](const auto& answer) { found = answer; });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().text(), "SQLite: no such table: t");
    EXPECT_FALSE(gate.rebuild());
    run("ALTER TABLE u RENAME TO t");
    ASSERT_TRUE(gate.flush({}));
    EXPECT_EQ(found, "1");
}

}  // namespace
}  // namespace posy::gates
