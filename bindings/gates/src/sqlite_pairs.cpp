#include "posy/gates/sqlite_pairs.hpp"

#include <string>
#include <utility>

#include "sqlite_statement.hpp"

namespace posy::gates {
namespace {

struct close_database {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using database = std::unique_ptr<sqlite3, close_database>;

constexpr const char* table =
    "CREATE TABLE IF NOT EXISTS pairs (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID";

result<database> open_database(const std::filesystem::path& path, bool sync) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open(path.c_str(), &opened);
    database owned(opened);
    if (status != SQLITE_OK)
        return owned ? sqlite_error(opened).behind(path.string())
                     : error::too_large("there is no memory for a database");
    for (const char* sql : {"PRAGMA journal_mode = WAL",
                            sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF", table})
        if (auto done = sqlite_run(opened, sql); !done) return done.error().behind(path.string());
    return owned;
}

}  // namespace

struct sqlite_pairs::connection {
    database opened;  // closed last
    sqlite_statement get, put, erase, each;
};

sqlite_pairs::sqlite_pairs(std::unique_ptr<connection> made) : to_(std::move(made)) {}
sqlite_pairs::~sqlite_pairs() = default;

result<std::unique_ptr<sqlite_pairs>> sqlite_pairs::open(const std::filesystem::path& path, bool sync) {
    auto opened = open_database(path, sync);
    if (!opened) return opened.error();
    const auto statement = [&](const char* sql) { return sqlite_statement::prepare(opened->get(), sql); };
    auto get = statement("SELECT value FROM pairs WHERE key = ?"),
         put = statement("INSERT INTO pairs VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"),
         erase = statement("DELETE FROM pairs WHERE key = ?"),
         each = statement("SELECT key, value FROM pairs WHERE key >= ? ORDER BY key");
    for (const auto* made : {&get, &put, &erase, &each})
        if (!*made) return made->error().behind(path.string());
    auto all = std::make_unique<connection>(connection{std::move(*opened), std::move(*get), std::move(*put),
                                                       std::move(*erase), std::move(*each)});
    return std::unique_ptr<sqlite_pairs>(new sqlite_pairs(std::move(all)));
}

result<std::optional<std::string>> sqlite_pairs::get(std::string_view key) const {
    const sqlite_reset at_the_end(to_->get);
    if (auto bound = to_->get.bind_blob(1, key); !bound) return bound.error();
    const auto row = to_->get.step();
    if (!row) return row.error();
    if (!*row) return std::optional<std::string>();
    return std::optional(std::string(to_->get.blob(0)));
}

result<void> sqlite_pairs::make_changes(std::span<const store::change> changes) {
    for (const store::change& each : changes) {
        sqlite_statement& statement = each.value ? to_->put : to_->erase;
        if (auto bound = statement.bind_blob(1, each.key); !bound) return bound;
        if (each.value)
            if (auto bound = statement.bind_blob(2, *each.value); !bound) return bound;
        if (auto done = statement.run(); !done) return done;
    }
    return {};
}

result<void> sqlite_pairs::write(std::span<const store::change> changes) {
    sqlite3* const to = to_->opened.get();
    if (auto begun = sqlite_run(to, "BEGIN IMMEDIATE"); !begun) return begun;
    auto done = make_changes(changes);
    if (done) done = sqlite_run(to, "COMMIT");
    if (!done) (void)sqlite_run(to, "ROLLBACK");
    return done;
}

result<void> sqlite_pairs::each(std::string_view first, const visitor& visit) const {
    const sqlite_reset at_the_end(to_->each);
    if (auto bound = to_->each.bind_blob(1, first); !bound) return bound;
    for (;;) {
        const auto row = to_->each.step();
        if (!row) return row.error();
        if (!*row || !visit(to_->each.blob(0), to_->each.blob(1))) return {};
    }
}

}  // namespace posy::gates
