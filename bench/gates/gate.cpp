// What a gate saves before a table of SQLite or PostgreSQL. Lookups of which 95 % are of absent keys, in
// three ways: a prepared statement for each; all in batches, without a filter; and through a gate.
//
//     scripts/build bench && build/bench/bench/posy-bench-gate sqlite [rows = 1000000] [lookups = 1000000]
//     tests/gates/with_postgres build/bench/bench/posy-bench-gate postgres …
//
// The first way takes a tenth of the lookups where it would take minutes. All ways must find the same.
#include <libpq-fe.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "posy/gates/postgres_table.hpp"
#include "posy/gates/sqlite_table.hpp"

namespace {

using namespace posy;
using clock_type = std::chrono::steady_clock;
using text_gate = gate<std::string, std::string>;

void check(bool fine, const char* what) {
    if (fine) return;
    std::fprintf(stderr, "posy-bench-gate: %s\n", what);
    std::exit(2);
}

std::string present(std::uint64_t i) { return "user" + std::to_string(i * 0x9e3779b97f4a7c15); }
std::string absent(std::uint64_t i) { return present(i + (std::uint64_t{1} << 40)); }

// Absent keys come from a million, so many come several times.
std::vector<std::string> questions(std::uint64_t rows, std::uint64_t count) {
    std::mt19937_64 random(1);
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < count; ++i)
        all.push_back(random() % 20 == 0 ? present(random() % rows) : absent(random() % 1'000'000));
    return all;
}

struct database {
    text_gate::store store;
    std::function<bool(const std::string& key)> look_up;  // one key, by its own statement
};

database sqlite(const std::string& path, std::uint64_t rows) {
    sqlite3* db = nullptr;
    check(sqlite3_open(path.c_str(), &db) == SQLITE_OK, "cannot open a database");
    const auto run = [&](const char* sql) {
        check(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
    };
    run("PRAGMA journal_mode = WAL; CREATE TABLE users (name TEXT PRIMARY KEY, mail TEXT) WITHOUT ROWID; "
        "BEGIN");
    sqlite3_stmt *put = nullptr, *get = nullptr;
    sqlite3_prepare_v2(db, "INSERT INTO users VALUES (?, 'somebody@example.org')", -1, &put, nullptr);
    for (std::uint64_t i = 0; i < rows; ++i) {
        const std::string key = present(i);
        sqlite3_bind_text(put, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
        check(sqlite3_step(put) == SQLITE_DONE, "cannot insert");
        sqlite3_reset(put);
    }
    run("COMMIT");
    sqlite3_prepare_v2(db, "SELECT mail FROM users WHERE name = ?", -1, &get, nullptr);
    return {gates::sqlite_table<std::string>::open(db, {"users", "name", "mail"})->store(),
            [get](const std::string& key) {
                sqlite3_bind_text(get, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
                const bool found = sqlite3_step(get) == SQLITE_ROW;
                sqlite3_reset(get);
                return found;
            }};
}

database postgres(std::uint64_t rows) {
    PGconn* const to = PQconnectdb("");
    check(PQstatus(to) == CONNECTION_OK, "no server; use tests/gates/with_postgres");
    const auto run = [&](const std::string& sql) {
        PGresult* const done = PQexec(to, sql.c_str());
        check(PQresultStatus(done) != PGRES_FATAL_ERROR, PQerrorMessage(to));
        PQclear(done);
    };
    run("CREATE TABLE users (name text PRIMARY KEY, mail text)");
    run("COPY users FROM STDIN");
    for (std::uint64_t i = 0; i < rows; ++i) {
        const std::string line = present(i) + "\tsomebody@example.org\n";
        PQputCopyData(to, line.data(), static_cast<int>(line.size()));
    }
    PQputCopyEnd(to, nullptr);
    while (PGresult* const done = PQgetResult(to)) PQclear(done);
    run("VACUUM ANALYZE users");
    PQclear(PQprepare(to, "one", "SELECT mail FROM users WHERE name = $1", 1, nullptr));
    return {gates::postgres_table<std::string>::open(to, {"users", "name", "mail"})->store(),
            [to](const std::string& key) {
                const char* value = key.c_str();
                PGresult* const done = PQexecPrepared(to, "one", 1, &value, nullptr, nullptr, 1);
                const bool found = PQntuples(done) == 1;
                PQclear(done);
                return found;
            }};
}

struct row {
    const char* way;
    std::size_t lookups;
    double seconds;
    std::uint64_t queries, found;

    void print(const row& first) const {
        const auto per = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
        const double fewer = per(first.queries, first.lookups) / per(queries, lookups);
        const double faster = per(first.seconds, first.lookups) / per(seconds, lookups);
        std::printf("%-22s %9zu %9llu %10.0f %8.2f %10.1f %9.1f\n", way, lookups,
                    static_cast<unsigned long long>(queries), per(lookups, seconds),
                    1e6 * per(seconds, lookups), fewer, faster);
    }
};

double seconds_of(const std::function<void()>& work) {
    const auto start = clock_type::now();
    work();
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

row one_by_one(const database& db, std::span<const std::string> keys) {
    row r{"a statement per key", keys.size(), 0, keys.size(), 0};
    r.seconds = seconds_of([&] {
        for (const auto& key : keys) r.found += db.look_up(key);
    });
    return r;
}

row in_batches(const database& db, std::span<const std::string> keys) {
    row r{"batches of 256", keys.size(), 0, 0, 0};
    r.seconds = seconds_of([&] {
        for (std::size_t first = 0; first < keys.size(); first += 256, ++r.queries) {
            const auto part = keys.subspan(first, std::min<std::size_t>(256, keys.size() - first));
            std::vector<std::optional<std::string>> answers(part.size());
            check(db.store.ask(part, answers).ok(), "a query failed");
            for (std::size_t i = 0; i < part.size(); ++i) r.found += answers[i].has_value();
        }
    });
    return r;
}

row through_gate(text_gate& gate, std::span<const std::string> keys) {
    row r{"gate", keys.size(), 0, 0, 0};
    r.seconds = seconds_of([&] {
        for (const auto& key : keys)
            check(
                gate.find(key, clock_type::now(), [&](const auto& answer) { r.found += answer.has_value(); })
                    .ok(),
                "a query failed");
        check(gate.flush(clock_type::now()).ok(), "a query failed");
    });
    r.queries = gate.counters().queries;
    return r;
}

void compare(const database& db, std::uint64_t rows, std::span<const std::string> keys, std::size_t few) {
    std::optional<text_gate> gate;
    const double opening = seconds_of([&] {
        gate.emplace(
            *text_gate::open(db.store, {.items = rows, .rate = 0.01, .patience = std::chrono::seconds(1)}));
    });
    std::printf("%-22s %9s %9s %10s %8s %10s %9s\n", "", "lookups", "queries", "lookups/s", "us each",
                "fewer", "faster");
    const row first = one_by_one(db, keys.first(few));
    first.print(first);
    const row batches = in_batches(db, keys);
    batches.print(first);
    const row gated = through_gate(*gate, keys);
    gated.print(first);
    check(batches.found == gated.found, "they found different keys");
    const gate_counters& c = gate->counters();
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "gate: opened in %.2f s; %llu absent at once, %llu learned, %llu found, %llu false positives, "
        "%llu shared, %.0f keys per query, %llu rebuilds\n",
        opening, number(c.absent_at_once), number(c.learned), number(c.found), number(c.false_positives),
        number(c.shared), static_cast<double>(c.keys_in_queries) / static_cast<double>(c.queries),
        number(c.rebuilds));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string kind = argc > 1 ? argv[1] : "";
    check(kind == "sqlite" || kind == "postgres", "usage: posy-bench-gate sqlite|postgres [rows] [lookups]");
    const std::uint64_t rows = argc > 2 ? std::stoull(argv[2]) : 1'000'000;
    const auto keys = questions(rows, argc > 3 ? std::stoull(argv[3]) : 1'000'000);
    std::string folder = std::filesystem::temp_directory_path() / "posy-bench-XXXXXX";
    check(mkdtemp(folder.data()) != nullptr, "cannot make a folder");
    compare(kind == "sqlite" ? sqlite(folder + "/users", rows) : postgres(rows), rows, keys,
            keys.size() / 10);
    std::filesystem::remove_all(folder);
}
