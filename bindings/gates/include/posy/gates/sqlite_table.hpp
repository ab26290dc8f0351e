// A table of SQLite behind a gate (posy/gate.hpp).
//
//   auto users = *posy::gates::sqlite_table<std::string>::open(db, {"users", "name", "mail"});
//   auto gate = *posy::gate<std::string, std::string>::open(users.store());
//
// A query is one statement, WHERE key IN (?, ?, …), prepared once. A loop over WHERE key = ? takes about a
// third more time per key without a transaction around it, and as much with one; a join with json_each() is
// no faster.
//
// Keys are std::string in a column of type TEXT, or std::int64_t in one of type INTEGER, compared byte by
// byte: a column with another type or collation is refused, because SQLite takes keys for equal there that
// a filter takes for different ('a' and 'A', '7' and '07').
//
// Thread safety: that of the connection, which must outlive the table and its stores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "posy/gate.hpp"
#include "posy/gates/table.hpp"

struct sqlite3;

namespace posy::gates {

template <class Key>
class sqlite_table {
  public:
    static result<sqlite_table> open(sqlite3*, const table_columns&);

    typename gate<Key, std::string>::store store() const;

  private:
    struct statements;
    explicit sqlite_table(std::shared_ptr<statements> made) : made_(std::move(made)) {}

    std::shared_ptr<statements> made_;
};

extern template class sqlite_table<std::string>;
extern template class sqlite_table<std::int64_t>;

}  // namespace posy::gates
