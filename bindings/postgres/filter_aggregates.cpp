// filter_agg(key, items, rate) and filter_union(filter): a filter of many rows, on any number of workers.
//
// The state is a filter and the digests that are not yet in it: a batch of them goes in several times as fast
// as one at a time. It belongs to the aggregate's memory context. A worker's state travels to the leader as a
// raw message. Bits depend on nothing but the keys, so a parallel aggregate is bit for bit the serial one.
#include <array>

#include "keys.hpp"
#include "posy/algebra.hpp"
#include "posy/plan.hpp"

namespace posy::postgres {
namespace {

class filter_state {
  public:
    filter_state(bloom_filter f, std::int64_t items, double rate)
        : filter_(std::move(f)), hash_(filter_.hash()), items_(items), rate_(rate) {}

    static filter_state planned(std::int64_t items, double rate) {
        if (items < 1) throw exception(error::invalid("filter_agg: items must be at least 1"));
        const auto p = *choose({.items = static_cast<std::uint64_t>(items), .rate = rate});
        if (p.memory_bytes() > max_array_bytes)
            throw exception(error::too_large(
                "filter_agg: a filter of this size would take " + std::to_string(p.memory_bytes() >> 20) +
                " MiB, and a value takes at most " + std::to_string(max_array_bytes >> 20) +
                "; ask for fewer items or a higher rate, or make several filters"));
        auto made = *bloom_filter::make(p.geometry());
        made.set_planned(p.promise());
        return {std::move(made), items, rate};
    }
    static filter_state of(bloom_filter f) { return {std::move(f), 0, 0}; }

    bool is_for(std::int64_t items, double rate) const { return items == items_ && rate == rate_; }
    void insert(std::string_view key) {
        if (waiting_ == batch_.size()) flush();
        batch_[waiting_++] = hash_(key);
    }
    void unite_with(const bloom_filter& other) { *unite(filter_, other); }
    // With all that was inserted.
    const bloom_filter& filter() {
        flush();
        return filter_;
    }

  private:
    void flush() {
        filter_.insert(std::span<const digest>(batch_.data(), waiting_));
        waiting_ = 0;
    }

    bloom_filter filter_;
    hasher hash_;
    std::int64_t items_;
    double rate_;
    std::array<digest, 512> batch_{};
    std::size_t waiting_ = 0;
};

using state = owned<filter_state>;

state* state_in(FunctionCallInfo fcinfo, int argument) {
    return PG_ARGISNULL(argument) ? nullptr : reinterpret_cast<state*>(PG_GETARG_POINTER(argument));
}

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
    MemoryContext context = nullptr;
    if (!AggCheckCallContext(fcinfo, &context))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("posy: this function is part of an aggregate")));
    return context;
}

}  // namespace
}  // namespace posy::postgres

using namespace posy;  // of this file alone: the functions that SQL calls are in no namespace
using namespace posy::postgres;

// A row without a key counts for nothing, but says how large the filter is.
POSY_SQL(posy_filter_agg_add) {
    if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("posy: filter_agg: items and rate must not be null")));
    const std::int64_t items = PG_GETARG_INT64(2);
    const double rate = PG_GETARG_FLOAT8(3);
    state* mine = state_in(fcinfo, 0);
    if (!mine) {
        mine = state::in(aggregate_context(fcinfo));
        guarded([&] { mine->set(filter_state::planned(items, rate)); });
    } else if (!mine->object->is_for(items, rate)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("posy: filter_agg: items and rate must be the same in all rows")));
    }
    if (!PG_ARGISNULL(1)) {
        key_form::scratch room;
        const auto key = key_form::of_argument(fcinfo, 1)->bytes_of(PG_GETARG_DATUM(1), room);
        guarded([&] { mine->object->insert(key); });
    }
    PG_RETURN_POINTER(mine);
}

POSY_SQL(posy_filter_union_add) {
    state* mine = state_in(fcinfo, 0);
    if (PG_ARGISNULL(1)) {
        if (!mine) PG_RETURN_NULL();
        PG_RETURN_POINTER(mine);
    }
    const struct varlena* value = PG_GETARG_VARLENA_PP(1);
    const bool first = !mine;
    if (first) mine = state::in(aggregate_context(fcinfo));
    guarded([&] {
        auto more = *read_value<bloom_filter>(postgres::bytes_of(value));
        if (first)
            mine->set(filter_state::of(std::move(more)));
        else
            mine->object->unite_with(more);
    });
    PG_RETURN_POINTER(mine);
}

// The second state is a worker's, and nobody else's: it may be taken over.
POSY_SQL(posy_filter_agg_combine) {
    state *mine = state_in(fcinfo, 0), *other = state_in(fcinfo, 1);
    if (other && !mine) {
        mine = state::in(aggregate_context(fcinfo));
        std::swap(mine->object, other->object);
    } else if (other) {
        guarded([&] { mine->object->unite_with(other->object->filter()); });
    }
    if (!mine) PG_RETURN_NULL();
    PG_RETURN_POINTER(mine);
}

POSY_SQL(posy_filter_agg_serialize) {
    state* mine = state_in(fcinfo, 0);
    Datum bytes = 0;
    guarded([&] { bytes = datum_of(to_bytes(mine->object->filter())); });
    return bytes;
}

POSY_SQL(posy_filter_agg_deserialize) {
    const struct varlena* bytes = PG_GETARG_VARLENA_PP(0);
    state* made = state::in(CurrentMemoryContext);
    guarded([&] { made->set(filter_state::of(*read_value<bloom_filter>(postgres::bytes_of(bytes)))); });
    PG_RETURN_POINTER(made);
}

POSY_SQL(posy_filter_agg_final) {
    state* mine = state_in(fcinfo, 0);
    if (!mine) PG_RETURN_NULL();
    Datum value = 0;
    guarded([&] { value = datum_of(write_value(mine->object->filter())); });
    return value;
}
