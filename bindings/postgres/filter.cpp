// What SQL asks of filters: lookups, sizes, algebra.
#include "posy/algebra.hpp"
#include "posy/standing.hpp"

#include "json.hpp"
#include "lookups.hpp"

using namespace posy;  // of this file alone: the functions that SQL calls are in no namespace
using namespace posy::postgres;

POSY_SQL(posy_filter_may_contain) {
    const auto& asked = lookup<bloom_filter>::of(fcinfo);
    PG_RETURN_BOOL(asked.body().may_contain(asked.key(fcinfo)));
}

// Different keys; null if the bits do not tell.
POSY_SQL(posy_filter_items) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    std::optional<standing> stands;
    guarded([&] { stands = standing_of(body_of<bloom_filter>(value)); });
    if (!stands) PG_RETURN_NULL();
    PG_RETURN_INT64(std::llround(stands->items));
}

POSY_SQL(posy_filter_rate) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    double rate = 0;
    guarded([&] { rate = body_of<bloom_filter>(value).false_positive_rate(); });
    PG_RETURN_FLOAT8(rate);
}

POSY_SQL(posy_filter_info) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    return jsonb_result([&] { return info_of(body_of<bloom_filter>(value), bytes_of(value).size()); });
}

POSY_SQL(posy_filter_compare) {
    const struct varlena *a = PG_GETARG_VARLENA_PP(0), *b = PG_GETARG_VARLENA_PP(1);
    return jsonb_result(
        [&] { return json_of(*compare(body_of<bloom_filter>(a), body_of<bloom_filter>(b))); });
}

POSY_SQL(posy_filter_intersection_size) {
    const struct varlena *a = PG_GETARG_VARLENA_PP(0), *b = PG_GETARG_VARLENA_PP(1);
    double size = 0;
    guarded([&] { size = compare(body_of<bloom_filter>(a), body_of<bloom_filter>(b))->intersection.value; });
    PG_RETURN_FLOAT8(size);
}

POSY_SQL(posy_filter_unite) {
    return combined<bloom_filter>(
        fcinfo, [](bloom_filter& into, const bloom_filter& from) { return unite(into, from); });
}

POSY_SQL(posy_filter_intersect) {
    return combined<bloom_filter>(
        fcinfo, [](bloom_filter& into, const bloom_filter& from) { return intersect(into, from); });
}
