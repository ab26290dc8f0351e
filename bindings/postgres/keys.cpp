#include "keys.hpp"

#include <charconv>
#include <cstring>

extern "C" {
#include <catalog/pg_type_d.h>
#include <mb/pg_wchar.h>
#include <utils/builtins.h>
#include <utils/datetime.h>
#include <utils/json.h>
#include <utils/lsyscache.h>
#include <utils/numeric.h>
#include <utils/uuid.h>
}

namespace posy::postgres {
namespace {

template <class Integer>
std::string_view decimal(Integer number, key_form::scratch& to) {
    const auto end = std::to_chars(to.room, to.room + sizeof to.room, number).ptr;
    return {to.room, static_cast<std::size_t>(end - to.room)};
}

std::string_view uuid_text(const unsigned char* bytes, key_form::scratch& to) {
    constexpr const char* digits = "0123456789abcdef";
    char* at = to.room;
    for (int i = 0; i < UUID_LEN; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    return {to.room, static_cast<std::size_t>(at - to.room)};
}

}  // namespace

key_form::shape key_form::shape_of(Oid type) {
    switch (type) {
        case TEXTOID:
        case VARCHAROID:
        case BYTEAOID:
            return shape::text;
        case BPCHAROID:
            return shape::padded_text;
        case NAMEOID:
            return shape::name;
        case UNKNOWNOID:
            return shape::literal;
        case INT2OID:
            return shape::integer_2;
        case INT4OID:
            return shape::integer_4;
        case INT8OID:
            return shape::integer_8;
        case OIDOID:
            return shape::oid;
        case UUIDOID:
            return shape::uuid;
        case NUMERICOID:
            return shape::numeric;
        case DATEOID:
        case TIMESTAMPOID:
        case TIMESTAMPTZOID:
            return shape::time;
        case BOOLOID:
        case INETOID:
        case CIDROID:
        case MACADDROID:
        case MACADDR8OID:
            return shape::printed;
        default:
            ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                            errmsg("posy: values of type %s cannot be keys", format_type_be(type)),
                            errhint("Cast the key to text, or to a type that is equal where its text is.")));
    }
}

key_form key_form::of_type(Oid type, Oid collation) {
    if (!OidIsValid(type))
        ereport(ERROR,
                (errcode(ERRCODE_INDETERMINATE_DATATYPE), errmsg("posy: the type of the key is unknown")));
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("posy: text under a nondeterministic collation cannot be a key"),
                 errdetail("Texts with different bytes can be equal under it, and a filter would miss them."),
                 errhint("Give the key another collation, for example COLLATE \"C\".")));
    key_form form{};
    form.type_ = getBaseType(type);
    form.shape_ = shape_of(form.type_);
    const int encoding = GetDatabaseEncoding();  // SQL_ASCII has bytes of whatever encoding
    form.convert_ = form.type_ != BYTEAOID && encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
    bool is_varlena = false;
    getTypeOutputInfo(form.type_, &form.output_, &is_varlena);
    return form;
}

key_form* key_form::of_argument(FunctionCallInfo fcinfo, int argument, std::size_t size) {
    FmgrInfo* call = fcinfo->flinfo;
    if (!call->fn_extra) {
        const key_form form = of_type(get_fn_expr_argtype(call, argument), PG_GET_COLLATION());
        auto* kept = static_cast<key_form*>(MemoryContextAllocZero(call->fn_mcxt, size));
        *kept = form;
        call->fn_extra = kept;
    }
    return static_cast<key_form*>(call->fn_extra);
}

std::string_view key_form::bytes_of(Datum key, scratch& to) const {
    std::string_view text;
    switch (shape_) {
        case shape::integer_2:
            return decimal(DatumGetInt16(key), to);
        case shape::integer_4:
            return decimal(DatumGetInt32(key), to);
        case shape::integer_8:
            return decimal(DatumGetInt64(key), to);
        case shape::oid:
            return decimal(DatumGetObjectId(key), to);
        case shape::uuid:
            return uuid_text(DatumGetUUIDP(key)->data, to);
        case shape::numeric:
            return numeric_normalize(DatumGetNumeric(key));
        case shape::time: {
            const int utc = 0;
            auto* room = static_cast<char*>(palloc(MAXDATELEN + 1));
            return JsonEncodeDateTime(room, key, type_, &utc);
        }
        case shape::printed:
            return OidOutputFunctionCall(output_, key);
        case shape::text:
        case shape::padded_text: {
            const struct varlena* value = PG_DETOAST_DATUM_PACKED(key);
            text = {VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)};
            if (shape_ == shape::padded_text) text = text.substr(0, text.find_last_not_of(' ') + 1);
            break;
        }
        case shape::name:
            text = NameStr(*DatumGetName(key));
            break;
        case shape::literal:
            text = DatumGetCString(key);
            break;
    }
    if (!convert_) return text;
    const char* converted = pg_server_to_any(text.data(), static_cast<int>(text.size()), PG_UTF8);
    return converted == text.data() ? text : std::string_view(converted);
}

}  // namespace posy::postgres
