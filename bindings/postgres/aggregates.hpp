// Aggregates over rows, on any number of workers.
//
// A state is a C++ object that belongs to the aggregate's memory context. A worker's state travels to the
// leader as bytes and is absorbed there. State has
//
//   void absorb(State&& other);  Datum serialized();  static State deserialized(byte_view);
//   value_bytes value();         // of the SQL type that the aggregate returns
//
// Between processes of one server bytes are as in memory: nothing is coded, and nothing checked, while the
// other processes wait.
#pragma once

#include <array>
#include <span>

#include "keys.hpp"

namespace posy::postgres {

template <class State>
struct aggregate {
    using cell = owned<State>;

    static cell* argument(FunctionCallInfo fcinfo, int i) {
        return PG_ARGISNULL(i) ? nullptr : reinterpret_cast<cell*>(PG_GETARG_POINTER(i));
    }
    static cell* make(FunctionCallInfo fcinfo) {
        MemoryContext context = nullptr;
        if (!AggCheckCallContext(fcinfo, &context))
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("posy: this function is part of an aggregate")));
        return cell::in(context);
    }
    static Datum pointer(cell* mine, FunctionCallInfo fcinfo) {
        if (!mine) PG_RETURN_NULL();
        PG_RETURN_POINTER(mine);
    }

    // The second state is a worker's, and nobody else's: it may be taken over.
    static Datum combine(FunctionCallInfo fcinfo) {
        cell *mine = argument(fcinfo, 0), *other = argument(fcinfo, 1);
        if (other && !mine) {
            mine = make(fcinfo);
            std::swap(mine->object, other->object);
        } else if (other) {
            guarded([&] { mine->object->absorb(std::move(*other->object)); });
        }
        return pointer(mine, fcinfo);
    }
    static Datum serialize(FunctionCallInfo fcinfo) {
        cell* mine = argument(fcinfo, 0);
        Datum bytes = 0;
        guarded([&] { bytes = mine->object->serialized(); });
        return bytes;
    }
    static Datum deserialize(FunctionCallInfo fcinfo) {
        const struct varlena* bytes = PG_GETARG_VARLENA_PP(0);
        cell* made = cell::in(CurrentMemoryContext);
        guarded([&] { made->set(State::deserialized(bytes_of(bytes))); });
        PG_RETURN_POINTER(made);
    }
    static Datum finish(FunctionCallInfo fcinfo) {
        cell* mine = argument(fcinfo, 0);
        if (!mine) PG_RETURN_NULL();
        Datum value = 0;
        guarded([&] { value = datum_of(mine->object->value()); });
        return value;
    }
};

// The functions of an aggregate that are the same for all.
#define POSY_SQL_AGGREGATE(name, State)                                                                   \
    POSY_SQL(posy_##name##_combine) { return posy::postgres::aggregate<State>::combine(fcinfo); }         \
    POSY_SQL(posy_##name##_serialize) { return posy::postgres::aggregate<State>::serialize(fcinfo); }     \
    POSY_SQL(posy_##name##_deserialize) { return posy::postgres::aggregate<State>::deserialize(fcinfo); } \
    POSY_SQL(posy_##name##_final) { return posy::postgres::aggregate<State>::finish(fcinfo); }

}  // namespace posy::postgres
