// Which bytes a key of SQL stands for. They are what the tool reads as a line, in UTF-8 whatever the encoding
// of the database, so that a filter means the same everywhere:
//
//   text, varchar, name      the text; char(n) without the blanks at its end
//   integers, oid, numeric   in decimal, without zeros at the end of a fraction: 7, 7::bigint and 7.00 are
//   one key uuid, inet, cidr, macaddr, boolean    as they are printed date, timestamp          by ISO 8601,
//   with a time zone in UTC; whatever the settings of the session bytea                    its bytes
//
// Keys that are equal in SQL must be equal bytes, or a filter would miss some of them. So other types are
// refused (floating-point numbers, whose 0 and -0 are equal; citext), and so is text under a collation in
// which different texts are equal.
//
// Code of the server's side: it may report errors.
#pragma once

#include "server.hpp"

namespace posy::postgres {

class key_form {
  public:
    // Of the argument of the function that is being called. Looked up once per query and kept in fn_extra, at
    // the beginning of whatever else is kept there; `size` is that of all.
    static key_form* of_argument(FunctionCallInfo, int argument, std::size_t size = sizeof(key_form));
    static key_form of_type(Oid type, Oid collation);

    struct scratch {
        char room[64];
    };
    // Valid as long as the datum and the scratch, and until the memory context is reset.
    std::string_view bytes_of(Datum, scratch&) const;

  private:
    enum class shape {
        text,
        padded_text,
        name,
        literal,
        integer_2,
        integer_4,
        integer_8,
        oid,
        uuid,
        numeric,
        time,
        printed
    };

    static shape shape_of(Oid type);

    shape shape_;
    Oid type_, output_;
    bool convert_;  // the database has another encoding than UTF-8
};

}  // namespace posy::postgres
