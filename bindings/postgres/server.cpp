#include "server.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
#include <utils/builtins.h>
#include <utils/jsonb.h>

PG_MODULE_MAGIC;
}

namespace posy::postgres {

void failure::take(int sql_code, const char* what) {
    code = sql_code;
    hint = nullptr;
    std::strncpy(text, what, sizeof text - 1);
    text[sizeof text - 1] = 0;
}

void failure::take(const error& why) {
    const auto code_of = [](error_kind kind) {
        switch (kind) {
            case error_kind::invalid:
            case error_kind::mismatch:
                return ERRCODE_INVALID_PARAMETER_VALUE;
            case error_kind::damaged:
                return ERRCODE_INVALID_BINARY_REPRESENTATION;
            case error_kind::too_large:
                return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
            case error_kind::unsupported:
                return ERRCODE_FEATURE_NOT_SUPPORTED;
            case error_kind::busy:
            case error_kind::input_output:
                break;
        }
        return ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
    };
    take(code_of(why.kind), why.text().c_str());
    if (why.kind == error_kind::mismatch)
        hint =
            "Give filter_agg the same items and rate everywhere (count_min_agg: epsilon and delta), and the "
            "tool the same --items, --fpr and --seed.";
}

void failure::report() const {
    ereport(ERROR, (errcode(code), errmsg("posy: %s", text), hint ? errhint("%s", hint) : 0));
    __builtin_unreachable();
}

struct varlena* room_for(std::size_t bytes) {
    const std::size_t size = bytes + VARHDRSZ;
    if (size > MaxAllocSize)
        throw exception(error::too_large("the result is larger than a value can be, one gigabyte"));
    // Does not jump: the size is allowed, and it returns null where there is no memory.
    auto* value = static_cast<struct varlena*>(palloc_extended(size, MCXT_ALLOC_NO_OOM));
    if (!value) throw std::bad_alloc();
    SET_VARSIZE(value, size);
    return value;
}

Datum datum_of(byte_view bytes) {
    struct varlena* value = room_for(bytes.size());
    std::memcpy(VARDATA(value), bytes.data(), bytes.size());
    return PointerGetDatum(value);
}

Datum jsonb_of(const char* text) { return DirectFunctionCall1(jsonb_in, CStringGetDatum(text)); }

}  // namespace posy::postgres
