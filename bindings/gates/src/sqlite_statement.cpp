#include "sqlite_statement.hpp"

namespace posy::gates {

error sqlite_error(sqlite3* database) {
    const bool busy = sqlite3_errcode(database) == SQLITE_BUSY;
    std::string what = std::string("SQLite: ") + sqlite3_errmsg(database);
    return busy ? error::busy(std::move(what)) : error::input_output(std::move(what));
}

std::string sqlite_name(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

result<void> sqlite_run(sqlite3* database, const char* sql) {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return sqlite_error(database);
}

result<sqlite_statement> sqlite_statement::prepare(sqlite3* database, const std::string& sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                           &made, nullptr) != SQLITE_OK)
        return sqlite_error(database);
    return sqlite_statement(made);
}

result<void> sqlite_statement::checked(int status) const {
    if (status == SQLITE_OK) return {};
    return sqlite_error(sqlite3_db_handle(statement_.get()));
}

result<void> sqlite_statement::bind(int parameter, std::int64_t value) {
    return checked(sqlite3_bind_int64(statement_.get(), parameter, value));
}

result<void> sqlite_statement::bind_text(int parameter, std::string_view value) {
    return checked(sqlite3_bind_text64(statement_.get(), parameter, value.data() ? value.data() : "",
                                       value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

result<void> sqlite_statement::bind_blob(int parameter, std::string_view value) {
    return checked(sqlite3_bind_blob64(statement_.get(), parameter, value.data() ? value.data() : "",
                                       value.size(), SQLITE_STATIC));
}

result<bool> sqlite_statement::step() {
    switch (sqlite3_step(statement_.get())) {
        case SQLITE_ROW:
            return true;
        case SQLITE_DONE:
            return false;
        default:
            return sqlite_error(sqlite3_db_handle(statement_.get()));
    }
}

result<void> sqlite_statement::run() {
    const sqlite_reset at_the_end(*this);
    if (auto done = step(); !done) return done.error();
    return {};
}

void sqlite_statement::reset() {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
}

std::string_view sqlite_statement::sized(const void* bytes, int column) const {
    if (bytes == nullptr) return {};
    return {static_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view sqlite_statement::text(int column) const {
    return sized(sqlite3_column_text(statement_.get(), column), column);
}

std::string_view sqlite_statement::blob(int column) const {
    return sized(sqlite3_column_blob(statement_.get(), column), column);
}

}  // namespace posy::gates
