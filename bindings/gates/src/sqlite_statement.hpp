// SQLite's statements, with errors as values.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "posy/result.hpp"

namespace posy::gates {

error sqlite_error(sqlite3*);
// A name as SQL writes it.
std::string sqlite_name(std::string_view);
result<void> sqlite_run(sqlite3*, const char* sql);

class sqlite_statement {
  public:
    static result<sqlite_statement> prepare(sqlite3*, const std::string& sql);

    // Parameters are counted from 1. Bytes must stay where they are until the statement is reset.
    result<void> bind(int parameter, std::int64_t);
    result<void> bind_text(int parameter, std::string_view);
    result<void> bind_blob(int parameter, std::string_view);
    // Is there another row?
    result<bool> step();
    // Runs a statement that has no rows.
    result<void> run();
    // Parameters are NULL again.
    void reset();

    // Of the row; columns are counted from 0, and views hold until the next step.
    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
    std::string_view text(int column) const;
    std::string_view blob(int column) const;

  private:
    struct finalize {
        void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
    };
    explicit sqlite_statement(sqlite3_stmt* made) : statement_(made) {}
    result<void> checked(int status) const;
    std::string_view sized(const void* bytes, int column) const;

    std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

// Resets a statement at the end of a scope, so that no read transaction stays open.
class sqlite_reset {
  public:
    explicit sqlite_reset(sqlite_statement& s) : statement_(s) {}
    sqlite_reset(const sqlite_reset&) = delete;
    sqlite_reset& operator=(const sqlite_reset&) = delete;
    ~sqlite_reset() { statement_.reset(); }

  private:
    sqlite_statement& statement_;
};

}  // namespace posy::gates
