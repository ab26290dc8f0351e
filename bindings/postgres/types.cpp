// The types filter, sealed_filter, bloomier_map and count_min: text and bytes in and out.
//
// All hold a message, so a cast to bytea copies nothing, and text and bytes are written by the same functions
// for all of them. What comes in is validated here, and nowhere else.
#include "server.hpp"

extern "C" {
#include <lib/stringinfo.h>
#include <libpq/pqformat.h>
}

namespace posy::postgres {
namespace {

Datum input(FunctionCallInfo fcinfo, message_kind kind) {
    const char* text = PG_GETARG_CSTRING(0);
    Datum value = 0;
    guarded([&] { value = datum_of(*value_of_text(text, kind)); });
    return value;
}

Datum receive(FunctionCallInfo fcinfo, message_kind kind) {
    auto* buffer = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    const int size = buffer->len - buffer->cursor;
    const char* bytes = pq_getmsgbytes(buffer, size);
    Datum value = 0;
    guarded([&] {
        value = datum_of(*value_of_bytes(as_byte_view({bytes, static_cast<std::size_t>(size)}), kind));
    });
    return value;
}

Datum from_bytea(FunctionCallInfo fcinfo, message_kind kind) {
    const struct varlena* bytes = PG_GETARG_VARLENA_PP(0);
    Datum value = 0;
    guarded([&] { value = datum_of(*value_of_bytes(bytes_of(bytes), kind)); });
    return value;
}

}  // namespace
}  // namespace posy::postgres

using namespace posy;  // of this file alone: the functions that SQL calls are in no namespace

#define POSY_SQL_TYPE(name, kind)                                            \
    POSY_SQL(posy_##name##_in) { return postgres::input(fcinfo, kind); }     \
    POSY_SQL(posy_##name##_recv) { return postgres::receive(fcinfo, kind); } \
    POSY_SQL(posy_##name##_of_bytea) { return postgres::from_bytea(fcinfo, kind); }

POSY_SQL_TYPE(filter, message_kind::filter)
POSY_SQL_TYPE(sealed_filter, message_kind::sealed)
POSY_SQL_TYPE(bloomier_map, message_kind::map)
POSY_SQL_TYPE(count_min, message_kind::sketch)

POSY_SQL(posy_out) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    const byte_view bytes = postgres::bytes_of(value);
    auto* written = static_cast<char*>(palloc_extended(2 * bytes.size() + 3, MCXT_ALLOC_HUGE));
    postgres::write_text(bytes, written);
    written[2 * bytes.size() + 2] = 0;
    PG_RETURN_CSTRING(written);
}

POSY_SQL(posy_send) { PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0)); }
