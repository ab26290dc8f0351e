// How many rows pass may_contain(set, column), for the planner.
//
// The most common values of the column are asked themselves. Of the others, the planner's assumption for
// joins is made: that all keys of the filter are in the column. So n keys are n of its D different values,
// and
//
//   share = n/D + (1 - n/D) * rate
//
// That is as many as can be. The bounds of the column's histogram are a sample of it: if fewer of them pass
// than that share allows (by three standard deviations), the share of the sample is taken instead.
//
// Code of the server's side: it may report errors.
#include "posy/standing.hpp"

#include <cmath>

#include "keys.hpp"

extern "C" {
#include <access/htup_details.h>
#include <catalog/pg_statistic.h>
#include <nodes/nodeFuncs.h>
#include <nodes/supportnodes.h>
#include <optimizer/optimizer.h>
#include <utils/lsyscache.h>
#include <utils/selfuncs.h>
}

namespace posy::postgres {
namespace {

constexpr double unknown_share = 1.0 / 3;  // what the planner takes of functions that it knows nothing of

struct column {
    VariableStatData stats;
    double nulls = 0;      // share of them
    double different = 0;  // values
};

// A filter that is known when the query is planned.
template <class Body>
struct known_filter {
    owned<Body>* held;
    double items = 0, rate = 0;

    bool passes(const key_form& form, Datum value) const {
        key_form::scratch room;
        const auto key = form.bytes_of(value, room);
        return held->object->may_contain(held->object->hash()(key));
    }
};

double items_of(const sealed_filter& f) { return static_cast<double>(f.items()); }
double items_of(const bloom_filter& f) {
    const auto stands = standing_of(f);
    return stands ? stands->items : HUGE_VAL;
}

template <class Body>
known_filter<Body> filter_of(const Const* constant) {
    const struct varlena* value =
        pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(constant->constvalue)));
    known_filter<Body> known{owned<Body>::in(CurrentMemoryContext)};
    guarded([&] {
        known.held->set(std::move(*read_value<Body>(bytes_of(value))));
        known.items = items_of(*known.held->object);
        known.rate = known.held->object->false_positive_rate();
    });
    return known;
}

// The statistics of one kind: values, and how frequent they are.
struct slot {
    AttStatsSlot values;
    bool there;

    slot(const column& c, int kind, int flags)
        : there(HeapTupleIsValid(c.stats.statsTuple) &&
                get_attstatsslot(&values, c.stats.statsTuple, kind, InvalidOid, flags)) {}
    int size() const { return there ? values.nvalues : 0; }
    void free() {
        if (there) free_attstatsslot(&values);
    }
};

template <class Body>
double share_of_others(const known_filter<Body>& filter, const key_form& form, const column& c, int common,
                       int common_passing) {
    const double members = std::max(0.0, filter.items - common_passing);
    const double different = std::max(1.0, c.different - common);
    const double contained = std::min(1.0, members / different);
    const double most = contained + (1 - contained) * filter.rate;
    slot bounds(c, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES);
    int passing = 0;
    for (int i = 0; i < bounds.size(); ++i) passing += filter.passes(form, bounds.values.values[i]);
    const double sample = bounds.size();
    bounds.free();
    const bool fewer = sample > 0 && passing < sample * most - 3 * std::sqrt(sample * most * (1 - most));
    return fewer ? std::max(passing / sample, filter.rate) : most;
}

template <class Body>
double share_of(const known_filter<Body>& filter, const key_form& form, const column& c) {
    slot common(c, STATISTIC_KIND_MCV, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
    double all = 0, passing = 0;
    int values_passing = 0;
    for (int i = 0; i < common.size(); ++i) {
        all += common.values.numbers[i];
        if (!filter.passes(form, common.values.values[i])) continue;
        passing += common.values.numbers[i];
        ++values_passing;
    }
    const double others = std::max(0.0, 1 - c.nulls - all);
    const double share = passing + others * share_of_others(filter, form, c, common.size(), values_passing);
    common.free();
    return share;
}

column column_of(PlannerInfo* root, Node* key, int relation, Oid function) {
    column c{};
    examine_variable(root, key, relation, &c.stats);
    bool is_default = false;
    c.different = get_variable_numdistinct(&c.stats, &is_default);
    // Nothing is known of its values; a key of many rows is more likely than one of two hundred values.
    if (is_default && c.stats.rel) c.different = std::max(c.different, c.stats.rel->tuples);
    if (HeapTupleIsValid(c.stats.statsTuple)) {
        c.nulls = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(c.stats.statsTuple))->stanullfrac;
        // Whoever may not read the column must not learn its values by what a query costs.
        if (!statistic_proc_security_check(&c.stats, function)) {
            ReleaseVariableStats(c.stats);
            c.stats.statsTuple = nullptr;
        }
    }
    return c;
}

template <class Body>
double selectivity(PlannerInfo* root, List* arguments, int relation, Oid function, Oid collation) {
    if (list_length(arguments) != 2) return unknown_share;
    Node* value = estimate_expression_value(root, static_cast<Node*>(linitial(arguments)));
    if (!IsA(value, Const)) return unknown_share;
    const auto* constant = reinterpret_cast<const Const*>(value);
    if (constant->constisnull) return 0;
    auto* key = static_cast<Node*>(lsecond(arguments));
    const key_form form = key_form::of_type(exprType(key), collation);
    column c = column_of(root, key, relation, function);
    const double share = share_of(filter_of<Body>(constant), form, c);
    ReleaseVariableStats(c.stats);
    return std::clamp(share, 0.0, 1.0);
}

// For the function.
template <class Body>
Datum support(FunctionCallInfo fcinfo) {
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    if (!IsA(request, SupportRequestSelectivity)) PG_RETURN_POINTER(nullptr);
    auto* asked = reinterpret_cast<SupportRequestSelectivity*>(request);
    if (asked->is_join) PG_RETURN_POINTER(nullptr);
    asked->selectivity =
        selectivity<Body>(asked->root, asked->args, asked->varRelid, asked->funcid, asked->inputcollid);
    PG_RETURN_POINTER(asked);
}

// For the operator.
template <class Body>
Datum restriction(FunctionCallInfo fcinfo) {
    auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    PG_RETURN_FLOAT8(selectivity<Body>(root, arguments, PG_GETARG_INT32(3), get_opcode(PG_GETARG_OID(1)),
                                       PG_GET_COLLATION()));
}

}  // namespace
}  // namespace posy::postgres

using namespace posy;  // of this file alone: the functions that SQL calls are in no namespace

POSY_SQL(posy_filter_support) { return postgres::support<bloom_filter>(fcinfo); }
POSY_SQL(posy_filter_selectivity) { return postgres::restriction<bloom_filter>(fcinfo); }
POSY_SQL(posy_sealed_filter_support) { return postgres::support<sealed_filter>(fcinfo); }
POSY_SQL(posy_sealed_filter_selectivity) { return postgres::restriction<sealed_filter>(fcinfo); }
