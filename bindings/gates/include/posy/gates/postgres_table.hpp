// A table of PostgreSQL behind a gate (posy/gate.hpp), by libpq.
//
//   auto users = *posy::gates::postgres_table<std::string>::open(connection, {"users", "name", "mail"});
//   auto gate = *posy::gate<std::string, std::string>::open(users.store());
//
// A query is one statement, WHERE key = ANY($1), prepared once, with the keys as a binary array: one way to
// the server and back for all of them. Keys of the table are read row by row, without holding all.
//
// Keys are std::string in a column of type text or varchar, or std::int64_t in one of type smallint, integer
// or bigint, compared byte by byte: other types, and collations by which different texts are equal, are
// refused. Texts need UTF-8 on both sides. What is no UTF-8 or has a NUL is in no table, and is not sent.
//
// After PQreset() the statement is gone: open the table again. Thread safety: that of the connection, which
// must outlive the table and its stores and is not in use while they are called.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "posy/gate.hpp"
#include "posy/gates/table.hpp"

struct pg_conn;  // PGconn

namespace posy::gates {

template <class Key>
class postgres_table {
  public:
    static result<postgres_table> open(pg_conn*, const table_columns&);

    typename gate<Key, std::string>::store store() const;

  private:
    struct questions;
    explicit postgres_table(std::shared_ptr<questions> made) : made_(std::move(made)) {}

    std::shared_ptr<questions> made_;
};

extern template class postgres_table<std::string>;
extern template class postgres_table<std::int64_t>;

}  // namespace posy::gates
