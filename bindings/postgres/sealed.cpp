// What SQL asks of sealed filters, maps and sketches.
#include "json.hpp"
#include "lookups.hpp"

using namespace posy;  // of this file alone: the functions that SQL calls are in no namespace
using namespace posy::postgres;

POSY_SQL(posy_sealed_filter_may_contain) {
    const auto& asked = lookup<sealed_filter>::of(fcinfo);
    PG_RETURN_BOOL(asked.body().may_contain(asked.key(fcinfo)));
}

// The value of the key; null if it is not there.
POSY_SQL(posy_bloomier_map_lookup) {
    const auto& asked = lookup<bloomier_map>::of(fcinfo);
    const auto found = asked.body().find(asked.key(fcinfo));
    if (!found) PG_RETURN_NULL();
    if (*found > static_cast<std::uint64_t>(PG_INT64_MAX))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("posy: the value of this key does not fit into bigint")));
    PG_RETURN_INT64(static_cast<std::int64_t>(*found));
}

// Numbers beyond bigint are its largest: an estimate that is too high is still one.
POSY_SQL(posy_count_min_estimate) {
    const auto& asked = lookup<count_min>::of(fcinfo);
    const auto largest = static_cast<std::uint64_t>(PG_INT64_MAX);
    PG_RETURN_INT64(static_cast<std::int64_t>(std::min(asked.body().estimate(asked.key(fcinfo)), largest)));
}

POSY_SQL(posy_sealed_filter_info) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    return jsonb_result([&] { return info_of(body_of<sealed_filter>(value), bytes_of(value).size()); });
}

POSY_SQL(posy_bloomier_map_info) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    return jsonb_result([&] { return info_of(body_of<bloomier_map>(value), bytes_of(value).size()); });
}

POSY_SQL(posy_count_min_info) {
    const struct varlena* value = PG_GETARG_VARLENA_PP(0);
    return jsonb_result([&] { return info_of(body_of<count_min>(value), bytes_of(value).size()); });
}

POSY_SQL(posy_count_min_unite) {
    return combined<count_min>(fcinfo, [](auto& into, const auto& from) { return unite(into, from); });
}
