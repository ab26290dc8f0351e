// A database in memory with the extension loaded, and answers as text.
#pragma once

#include <sqlite3.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "posy/bytes.hpp"

namespace posy {

class database {
  public:
    database() {
        check(sqlite3_open(":memory:", &db_));
        sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
        char* problem = nullptr;
        if (sqlite3_load_extension(db_, POSY_SQLITE_EXTENSION, nullptr, &problem) != SQLITE_OK)
            throw std::runtime_error(problem ? problem : "not loaded");
    }
    ~database() { sqlite3_close(db_); }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    // The first column of the first row: "NULL", or its text, or its bytes. Parameters are bound as blobs.
    std::string ask(const std::string& sql, const std::vector<byte_view>& parameters = {}) {
        sqlite3_stmt* statement = nullptr;
        check(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr));
        int number = 0;
        for (const byte_view bytes : parameters)
            sqlite3_bind_blob64(statement, ++number, bytes.data(), bytes.size(), SQLITE_STATIC);
        std::string answer;
        const int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, 0));
            const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, 0));
            answer = sqlite3_column_type(statement, 0) == SQLITE_NULL ? "NULL"
                                                                      : std::string(text ? text : "", size);
        }
        const std::string problem = sqlite3_errmsg(db_);
        sqlite3_finalize(statement);
        if (code != SQLITE_ROW && code != SQLITE_DONE) throw std::runtime_error(problem);
        return answer;
    }
    // The error of a statement that must have one.
    std::string error_of(const std::string& sql, const std::vector<byte_view>& parameters = {}) {
        try {
            return "no error, but " + ask(sql, parameters);
        } catch (const std::runtime_error& e) {
            return e.what();
        }
    }

  private:
    void check(int code) {
        if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
    }
    sqlite3* db_ = nullptr;
};

// A table t of the numbers x from 1 to n.
inline void number_rows(database& db, int n) {
    db.ask("CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < " +
           std::to_string(n) + ") SELECT x FROM c");
}

}  // namespace posy
