#include "posy/gates/sqlite_table.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "places.hpp"
#include "sqlite_statement.hpp"

namespace posy::gates {
namespace {

// Most keys of a statement, a power of two: SQLite allows 32,766 parameters. More are asked in several parts.
constexpr std::size_t most_keys = 16'384;

// Behind its table's name: a name alone that is no column would be a text.
std::string column_name(const table_columns& in, const std::string& column) {
    return sqlite_name(in.table) + "." + sqlite_name(column);
}

std::string question(const table_columns& in, std::size_t count) {
    const std::string key = column_name(in, in.key);
    std::string sql = "SELECT " + key + ", " + column_name(in, in.value) + " FROM " + sqlite_name(in.table) +
                      " WHERE " + key + " IN (?";
    for (std::size_t i = 1; i < count; ++i) sql += ",?";
    return sql + ")";
}

std::string every_key(const table_columns& in) {
    const std::string key = column_name(in, in.key);
    return "SELECT " + key + " FROM " + sqlite_name(in.table) + " WHERE " + key + " IS NOT NULL";
}

// What differs between the two kinds of keys.
template <class Key>
struct column;
template <>
struct column<std::string> {
    static constexpr const char* affinity = "TEXT";
    static bool fits(const std::string& type) {
        const auto has = [&](const char* part) { return type.find(part) != std::string::npos; };
        return !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT"));  // as SQLite finds the affinity
    }
    static result<void> bind(sqlite_statement& s, int at, const std::string& key) {
        return s.bind_text(at, key);
    }
    static std::string_view read(const sqlite_statement& s) { return s.text(0); }
};
template <>
struct column<std::int64_t> {
    static constexpr const char* affinity = "INTEGER";
    static bool fits(const std::string& type) { return type.find("INT") != std::string::npos; }
    static result<void> bind(sqlite_statement& s, int at, std::int64_t key) { return s.bind(at, key); }
    static std::int64_t read(const sqlite_statement& s) { return s.integer(0); }
};

template <class Key>
result<void> check_column(sqlite3* database, const table_columns& in) {
    const char *type = nullptr, *collation = nullptr;
    if (sqlite3_table_column_metadata(database, nullptr, in.table.c_str(), in.key.c_str(), &type, &collation,
                                      nullptr, nullptr, nullptr) != SQLITE_OK)
        return sqlite_error(database);
    std::string upper = type ? type : "";
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    const std::string name = "column " + in.key + " of table " + in.table;
    if (!column<Key>::fits(upper))
        return error::mismatch(name + " is of type " + (upper.empty() ? "nothing" : upper) +
                               "; these keys need a column of type " + column<Key>::affinity);
    if (sqlite3_stricmp(collation ? collation : "BINARY", "BINARY") != 0)
        return error::mismatch(name + " has collation " + collation +
                               ", by which different keys are equal; a gate needs BINARY");
    return {};
}

}  // namespace

template <class Key>
struct sqlite_table<Key>::statements {
    sqlite3* database;
    table_columns columns;
    sqlite_statement keys;
    std::vector<std::optional<sqlite_statement>>
        questions{};  // the i-th for 2^i keys, when it is first needed

    // For this many keys at least.
    result<sqlite_statement*> question_for(std::size_t count) {
        const auto size = static_cast<std::size_t>(std::bit_width(count - 1));
        if (questions.size() <= size) questions.resize(size + 1);
        if (!questions[size]) {
            auto made = sqlite_statement::prepare(database, question(columns, std::size_t{1} << size));
            if (!made) return made.error();
            questions[size] = std::move(*made);
        }
        return &*questions[size];
    }
    result<void> ask_part(std::span<const Key> part, std::span<std::optional<std::string>> answers) {
        const auto statement = question_for(part.size());
        if (!statement) return statement.error();
        const sqlite_reset at_the_end(**statement);
        // The parameters that are left over are NULL, which equals nothing.
        for (std::size_t i = 0; i < part.size(); ++i)
            if (auto bound = column<Key>::bind(**statement, static_cast<int>(i + 1), part[i]); !bound)
                return bound;
        const places<Key> where(part);
        for (;;) {
            const auto row = (*statement)->step();
            if (!row) return row.error();
            if (!*row) return {};
            if (const auto at = where.of(column<Key>::read(**statement)))
                answers[*at] = std::string((*statement)->text(1));
        }
    }
    result<void> ask(std::span<const Key> asked, std::span<std::optional<std::string>> answers) {
        for (std::size_t first = 0; first < asked.size(); first += most_keys) {
            const std::size_t count = std::min(asked.size() - first, most_keys);
            if (auto done = ask_part(asked.subspan(first, count), answers.subspan(first, count)); !done)
                return done;
        }
        return {};
    }
    result<void> each_key(const posy::store::key_visitor<Key>& visit) {
        const sqlite_reset at_the_end(keys);
        for (;;) {
            const auto row = keys.step();
            if (!row) return row.error();
            if (!*row) return {};
            visit(column<Key>::read(keys));
        }
    }
};

template <class Key>
result<sqlite_table<Key>> sqlite_table<Key>::open(sqlite3* database, const table_columns& columns) {
    if (auto fits = check_column<Key>(database, columns); !fits) return fits.error();
    auto keys = sqlite_statement::prepare(database, every_key(columns));
    if (!keys) return keys.error();
    auto made = std::make_shared<statements>(statements{database, columns, std::move(*keys)});
    if (const auto one = made->question_for(1); !one) return one.error();  // is there such a value?
    return sqlite_table(std::move(made));
}

template <class Key>
typename gate<Key, std::string>::store sqlite_table<Key>::store() const {
    return {[made = made_](auto keys, auto answers) { return made->ask(keys, answers); },
            [made = made_](const auto& visit) { return made->each_key(visit); }};
}

template class sqlite_table<std::string>;
template class sqlite_table<std::int64_t>;

}  // namespace posy::gates
