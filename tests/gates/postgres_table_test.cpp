// Against the server that libpq finds by its environment: tests/gates/with_postgres starts one.
#include "posy/gates/postgres_table.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "against_truth.hpp"
#include "postgres_array.hpp"

namespace posy::gates {
namespace {

struct PostgresTable : testing::Test {
    PGconn* connection = PQconnectdb("");

    void SetUp() override {
        ASSERT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
        run("SET client_min_messages = warning; DROP SCHEMA IF EXISTS posy_test CASCADE; CREATE SCHEMA "
            "posy_test; SET search_path = posy_test");
    }
    ~PostgresTable() override { PQfinish(connection); }

    void run(const std::string& sql) {
        PGresult* const done = PQexec(connection, sql.c_str());
        EXPECT_TRUE(PQresultStatus(done) == PGRES_COMMAND_OK || PQresultStatus(done) == PGRES_TUPLES_OK)
            << sql << PQerrorMessage(connection);
        PQclear(done);
    }
    static std::string text(std::int64_t key) { return std::to_string(key); }
    static std::string text(const std::string& key) { return key; }
    template <class Key>
    void change(const std::string& sql, const Key& key) {
        const std::string as_text = text(key);
        const char* value = as_text.c_str();
        PGresult* const done = PQexecParams(connection, sql.c_str(), 1, nullptr, &value, nullptr, nullptr, 0);
        EXPECT_EQ(PQresultStatus(done), PGRES_COMMAND_OK) << PQerrorMessage(connection);
        PQclear(done);
    }
    template <class Key>
    void expect_truth_of(const std::string& type) {
        run("CREATE TABLE \"the \"\"users\" (\"a name\" " + type + " UNIQUE, mail varchar(20))");
        run("INSERT INTO \"the \"\"users\" VALUES (NULL, 'nobody')");
        const auto table = postgres_table<Key>::open(connection, {"the \"users", "a name", "mail"});
        ASSERT_TRUE(table) << table.error().text();
        expect_truth<Key>(
            {table->store(),
             [&](const Key& key, const std::string& value) {
                 change("INSERT INTO \"the \"\"users\" VALUES ($1, '" + value +
                            "') ON CONFLICT (\"a name\") DO UPDATE SET mail = excluded.mail",
                        key);
             },
             [&](const Key& key) { change("DELETE FROM \"the \"\"users\" WHERE \"a name\" = $1", key); }},
            10'000);
    }
    template <class Key>
    void expect_refusal(const table_columns& columns, const std::string& why) {
        const auto opened = postgres_table<Key>::open(connection, columns);
        ASSERT_FALSE(opened);
        EXPECT_NE(opened.error().text().find(why), std::string::npos) << opened.error().text();
    }
    posy::gate<std::string, std::string> gate_of_t() {
        return *posy::gate<std::string, std::string>::open(
            postgres_table<std::string>::open(connection, {"t", "k", "v"})->store(), {.batch = 3});
    }
};

TEST_F(PostgresTable, AnswersAsTheTableDoesForTexts) { expect_truth_of<std::string>("text"); }
TEST_F(PostgresTable, AnswersAsTheTableDoesForIntegers) { expect_truth_of<std::int64_t>("bigint"); }

TEST_F(PostgresTable, IntegersBeyondTheColumnAreAbsent) {
    run("CREATE TABLE t (k smallint, v int); INSERT INTO t VALUES (7, 70), (-3, NULL)");
    const auto store = postgres_table<std::int64_t>::open(connection, {"t", "k", "v"})->store();
    const std::vector<std::int64_t> keys{7, -3, 65'536 + 7, std::numeric_limits<std::int64_t>::max()};
    std::vector<std::optional<std::string>> answers(keys.size());
    ASSERT_TRUE(store.ask(keys, answers));
    EXPECT_EQ(answers, (std::vector<std::optional<std::string>>{"70", "", std::nullopt, std::nullopt}));
}

TEST_F(PostgresTable, TextsThatNoTableHasDoNotSpoilAQuery) {
    run("CREATE TABLE t (k varchar(9), v text); INSERT INTO t VALUES ('a', '1')");
    const auto store = postgres_table<std::string>::open(connection, {"t", "k", "v"})->store();
    const std::vector<std::string> keys{
        std::string("a\0", 2), "\xff",     "a",           "\xc3", "\xed\xa0\x80",
        "\xf4\x90\x80\x80",    "\xc0\x80", "\xe0\x80\x80"};
    std::vector<std::optional<std::string>> answers(keys.size());
    ASSERT_TRUE(store.ask(keys, answers));
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(answers[i].has_value(), keys[i] == "a") << i;
    for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(is_postgres_text(keys[i]), keys[i] == "a") << i;
}

// What we take for text is what the server takes for it.
TEST_F(PostgresTable, TakesForTextWhatTheServerDoes) {
    std::mt19937 random(4);
    at_least texts(200), others(200);
    const std::string some("a\x80\xbf\xc2\xdf\xe0\xa0\x9f\xed\xef\xf0\x90\x8f\xf4\xf5\0", 16);
    for (int i = 0; i < 5'000; ++i) {
        std::string key;
        for (auto length = random() % 5; key.size() < length;) key += some[random() % some.size()];
        const char* value = key.data();
        const int length = static_cast<int>(key.size()), binary = 1;
        const Oid type = 25;
        PGresult* const done = PQexecParams(connection, "SELECT $1", 1, &type, &value, &length, &binary, 1);
        const bool taken = PQresultStatus(done) == PGRES_TUPLES_OK;
        PQclear(done);
        ASSERT_EQ(is_postgres_text(key), taken) << testing::PrintToString(key);
        ++(taken ? texts : others);
    }
}

TEST_F(PostgresTable, RefusesColumnsWithAnotherEquality) {
    run("CREATE COLLATION loud (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
    run("CREATE TABLE t (loud text COLLATE loud, padded char(5), decimal numeric, name text, number int)");
    expect_refusal<std::string>({"t", "loud", "name"}, "a deterministic one");
    expect_refusal<std::string>({"t", "padded", "name"}, "must be of type text or varchar");
    expect_refusal<std::string>({"t", "number", "name"}, "must be of type text or varchar");
    expect_refusal<std::int64_t>({"t", "decimal", "name"}, "must be of type smallint, integer or bigint");
    expect_refusal<std::int64_t>({"t", "nothing", "name"}, "there is no column nothing of table t");
    expect_refusal<std::int64_t>({"nothing", "number", "name"}, "there is no column number of table nothing");
    expect_refusal<std::int64_t>({"t", "number", "nothing"}, "column \"nothing\" does not exist");
    run("SET client_encoding = 'LATIN1'");
    expect_refusal<std::string>({"t", "name", "name"}, "client_encoding is LATIN1");
}

TEST_F(PostgresTable, AFailedQueryIsReportedAndMadeAgain) {
    run("CREATE TABLE t (k text, v text); INSERT INTO t VALUES ('a', '1'), ('b', '2'), ('c', '3')");
    auto gate = gate_of_t();
    std::vector<std::string> found;
    const auto keep = [&](const std::optional<std::string>& answer) {
        found.push_back(answer.value_or("-"));
    };
    run("ALTER TABLE t RENAME TO u");
    ASSERT_TRUE(gate.find("a", {}, keep));
    ASSERT_TRUE(gate.find("b", {}, keep));
    const auto done = gate.find("c", {}, keep);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text().find("relation \"t\" does not exist"), std::string::npos)
        << done.error().text();
    EXPECT_FALSE(gate.rebuild());
    EXPECT_EQ(gate.waiting(), 3);
    run("ALTER TABLE u RENAME TO t");
    ASSERT_TRUE(gate.flush({}));
    EXPECT_EQ(found, (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(PostgresTable, AServerThatGoesAwayIsReported) {
    run("CREATE TABLE t (k text, v text); INSERT INTO t VALUES ('a', '1')");
    auto gate = gate_of_t();
    bool answered = false;
    ASSERT_TRUE(gate.find("a", {}, [&](const auto&) { answered = true; }));
    PGresult* const gone = PQexec(connection, "SELECT pg_terminate_backend(pg_backend_pid())");
    PQclear(gone);
    EXPECT_FALSE(gate.flush({}));
    EXPECT_EQ(gate.waiting(), 1);
    EXPECT_FALSE(answered);
    EXPECT_FALSE(gate.rebuild());
}

}  // namespace
}  // namespace posy::gates
