#include "posy/gates/postgres_table.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "places.hpp"
#include "postgres_array.hpp"

namespace posy::gates {
namespace {

struct clear_result {
    void operator()(PGresult* r) const { PQclear(r); }
};
using rows = std::unique_ptr<PGresult, clear_result>;

error postgres_error(PGconn* connection) {
    std::string what = PQerrorMessage(connection);
    if (const auto end = what.find('\n'); end != std::string::npos) what.resize(end);
    return error::input_output("PostgreSQL: " + what);
}

std::string postgres_name(PGconn* connection, const std::string& name) {
    const std::unique_ptr<char, decltype(&PQfreemem)> quoted(
        PQescapeIdentifier(connection, name.data(), name.size()), &PQfreemem);
    return quoted ? quoted.get() : std::string();
}

std::string_view field(const PGresult* r, int row, int column) {
    return {PQgetvalue(r, row, column), static_cast<std::size_t>(PQgetlength(r, row, column))};
}

std::int64_t big_integer(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
}

// What differs between the two kinds of keys. The columns of smaller integers are cast, so that a key beyond
// their range is absent and not an error.
template <class Key>
struct column;
template <>
struct column<std::string> {
    static constexpr postgres_type element = postgres_type::text;
    static constexpr const char* types = "text or varchar";
    static constexpr const char* read_as = "text";
    static bool fits(postgres_type t) { return t == postgres_type::text || t == postgres_type::varchar; }
    static bool possible(const std::string& key) { return is_postgres_text(key); }
    static std::string_view read(std::string_view bytes) { return bytes; }
};
template <>
struct column<std::int64_t> {
    static constexpr postgres_type element = postgres_type::int8;
    static constexpr const char* types = "smallint, integer or bigint";
    static constexpr const char* read_as = "int8";
    static bool fits(postgres_type t) {
        return t == postgres_type::int8 || t == postgres_type::int4 || t == postgres_type::int2;
    }
    static bool possible(std::int64_t) { return true; }
    static std::int64_t read(std::string_view bytes) { return big_integer(bytes); }
};

// The type of the column, and whether its collation tells different texts apart.
template <class Key>
result<void> check_column(PGconn* connection, const table_columns& in) {
    const char* sql =
        "SELECT a.atttypid::text, coalesce(c.collisdeterministic, true)::text FROM pg_attribute a "
        "LEFT JOIN pg_collation c ON c.oid = a.attcollation "
        "WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND a.attnum > 0";
    const std::string table = postgres_name(connection, in.table);
    const char* parameters[] = {table.c_str(), in.key.c_str()};
    const rows found(PQexecParams(connection, sql, 2, nullptr, parameters, nullptr, nullptr, 0));
    if (PQresultStatus(found.get()) != PGRES_TUPLES_OK) return postgres_error(connection);
    const std::string name = "column " + in.key + " of table " + in.table;
    if (PQntuples(found.get()) == 0) return error::invalid("there is no " + name);
    if (!column<Key>::fits(static_cast<postgres_type>(std::stoul(std::string(field(found.get(), 0, 0))))))
        return error::mismatch(name + " cannot hold these keys; it must be of type " + column<Key>::types);
    if (field(found.get(), 0, 1) != "true")
        return error::mismatch(name +
                               " has a collation by which different keys are equal; a gate needs a "
                               "deterministic one");
    return {};
}

template <class Key>
result<void> check_encoding(PGconn* connection) {
    if constexpr (std::same_as<Key, std::string>) {
        for (const char* setting : {"server_encoding", "client_encoding"}) {
            const char* value = PQparameterStatus(connection, setting);
            if (value == nullptr || std::string_view(value) != "UTF8")
                return error::unsupported(std::string("the gate needs text in UTF-8, and ") + setting +
                                          " is " + (value ? value : "unknown"));
        }
    }
    return {};
}

}  // namespace

template <class Key>
struct postgres_table<Key>::questions {
    PGconn* connection;
    std::string statement;  // its name on the server
    std::string keys;       // the text of the other one

    result<void> ask(std::span<const Key> asked, std::span<std::optional<std::string>> answers) {
        std::string elements;
        std::size_t count = 0;
        for (const Key& key : asked) {
            if (!column<Key>::possible(key)) continue;
            append_element(elements, key);
            ++count;
        }
        const std::string array = array_head(column<Key>::element, count) + elements;
        const char* value = array.data();
        const int length = static_cast<int>(array.size()), binary = 1;
        const rows found(PQexecPrepared(connection, statement.c_str(), 1, &value, &length, &binary, binary));
        if (PQresultStatus(found.get()) != PGRES_TUPLES_OK) return postgres_error(connection);
        const places<Key> where(asked);
        for (int row = 0; row < PQntuples(found.get()); ++row)
            if (const auto at = where.of(column<Key>::read(field(found.get(), row, 0))))
                answers[*at] = std::string(field(found.get(), row, 1));
        return {};
    }
    // Row by row, to the end even after an error: only then is the connection free again.
    result<void> each_key(const posy::store::key_visitor<Key>& visit) {
        if (PQsendQueryParams(connection, keys.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1) != 1)
            return postgres_error(connection);
        PQsetSingleRowMode(connection);
        result<void> done;
        while (const rows part{PQgetResult(connection)}) {
            const auto status = PQresultStatus(part.get());
            if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK) done = postgres_error(connection);
            for (int row = 0; row < PQntuples(part.get()); ++row)
                visit(column<Key>::read(field(part.get(), row, 0)));
        }
        return done;
    }
};

template <class Key>
result<postgres_table<Key>> postgres_table<Key>::open(PGconn* connection, const table_columns& in) {
    if (auto fits = check_encoding<Key>(connection); !fits) return fits.error();
    if (auto fits = check_column<Key>(connection, in); !fits) return fits.error();
    static std::atomic<std::uint64_t> tables = 0;
    const std::string table = postgres_name(connection, in.table), key = postgres_name(connection, in.key);
    const std::string read_key = key + "::" + column<Key>::read_as;
    auto made = std::make_shared<questions>(
        questions{connection, "posy_gate_" + std::to_string(++tables),
                  "SELECT " + read_key + " FROM " + table + " WHERE " + key + " IS NOT NULL"});
    const std::string sql = "SELECT " + read_key + ", " + postgres_name(connection, in.value) +
                            "::text FROM " + table + " WHERE " + key + " = ANY($1)";
    const Oid type = column<Key>::element == postgres_type::text ? 1009 : 1016;  // text[] and int8[]
    const rows prepared(PQprepare(connection, made->statement.c_str(), sql.c_str(), 1, &type));
    if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) return postgres_error(connection);
    return postgres_table(std::move(made));
}

template <class Key>
typename gate<Key, std::string>::store postgres_table<Key>::store() const {
    return {[made = made_](auto keys, auto answers) { return made->ask(keys, answers); },
            [made = made_](const auto& visit) { return made->each_key(visit); }};
}

template class postgres_table<std::string>;
template class postgres_table<std::int64_t>;

}  // namespace posy::gates
