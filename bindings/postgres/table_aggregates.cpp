// filter_agg(key, items, rate), count_min_agg(key, epsilon, delta), and the unions of both: what is built key
// by key in a table of fixed size.
//
// The digests of some keys wait, because a batch of them goes in several times as fast as one at a time.
// Filters and plain sketches depend on nothing but the keys, so that a parallel aggregate is bit for bit the
// serial one.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "aggregates.hpp"
#include "posy/algebra.hpp"
#include "posy/plan.hpp"
#include "posy/theory.hpp"

namespace posy::postgres {
namespace {

// What is not finite is refused by whoever makes the table.
void check_memory(double bytes, const char* what) {
    if (!std::isfinite(bytes) || bytes <= static_cast<double>(max_array_bytes)) return;
    throw exception(error::too_large(
        std::string(what) + ": this would take " + std::to_string(std::llround(bytes / (1 << 20))) +
        " MiB, and a value takes at most " + std::to_string(max_array_bytes >> 20) +
        "; ask for less, or make several"));
}

// What a table is made for: the arguments of its aggregate that are the same in all rows.
struct filter_plan {
    using body = bloom_filter;
    static constexpr const char* differ = "posy: filter_agg: items and rate must be the same in all rows";
    static constexpr const char* null = "posy: filter_agg: items and rate must not be null";

    std::int64_t items = 0;
    double rate = 0;

    explicit filter_plan(FunctionCallInfo fcinfo) : items(PG_GETARG_INT64(2)), rate(PG_GETARG_FLOAT8(3)) {}
    filter_plan() = default;
    bool operator==(const filter_plan&) const = default;

    bloom_filter make() const {
        if (items < 1) throw exception(error::invalid("filter_agg: items must be at least 1"));
        const auto p = *choose({.items = static_cast<std::uint64_t>(items), .rate = rate});
        check_memory(static_cast<double>(p.memory_bytes()), "filter_agg");
        auto made = *bloom_filter::make(p.geometry());
        made.set_planned(p.promise());
        return made;
    }
    static void put(bloom_filter& into, std::span<const digest> keys) { into.insert(keys); }

    struct shape {
        posy::geometry geometry;
        posy::provenance provenance;
    };
    static_assert(std::is_trivially_copyable_v<shape>);
    static Datum ship(const bloom_filter& filter) {
        const shape of{filter.geometry(), filter.provenance()};
        const auto words = std::as_bytes(filter.bits().words());
        struct varlena* bytes = room_for(sizeof of + words.size());
        std::memcpy(VARDATA(bytes), &of, sizeof of);
        std::memcpy(VARDATA(bytes) + sizeof of, words.data(), words.size());
        return PointerGetDatum(bytes);
    }
    static bloom_filter unship(byte_view bytes) {
        shape of;
        std::memcpy(&of, bytes.data(), sizeof of);
        auto filter = *bloom_filter::make(of.geometry);
        const auto words = std::as_writable_bytes(filter.bits().words());
        std::memcpy(words.data(), bytes.data() + sizeof of, words.size());
        filter.set_provenance(of.provenance);
        return filter;
    }
};

struct count_plan {
    using body = count_min;
    static constexpr const char* differ =
        "posy: count_min_agg: epsilon and delta must be the same in all rows";
    static constexpr const char* null = "posy: count_min_agg: epsilon and delta must not be null";

    double epsilon = 0, delta = 0;

    explicit count_plan(FunctionCallInfo fcinfo) : epsilon(PG_GETARG_FLOAT8(2)), delta(PG_GETARG_FLOAT8(3)) {}
    count_plan() = default;
    bool operator==(const count_plan&) const = default;

    count_min make() const {
        check_memory(8 * theory::count_min_width(epsilon) * theory::count_min_depth(delta), "count_min_agg");
        return *count_min::with_guarantee(hasher(), epsilon, delta, update_rule::plain,
                                          counter_width::bits_64);
    }
    static void put(count_min& into, std::span<const digest> keys) { into.add(keys); }
    static Datum ship(const count_min& counts) { return datum_of(to_bytes(counts)); }
    static count_min unship(byte_view bytes) { return *read_value<count_min>(bytes); }
};

template <class Plan>
class table_state {
  public:
    using body = typename Plan::body;

    explicit table_state(const Plan& plan) : plan_(plan), table_(plan.make()), hash_(table_.hash()) {}
    explicit table_state(body table) : table_(std::move(table)), hash_(table_.hash()) {}

    bool is_for(const Plan& plan) const { return plan == plan_; }
    void add(std::string_view key) {
        if (waiting_ == batch_.size()) flush();
        batch_[waiting_++] = hash_(key);
    }
    void absorb(const body& other) { *unite(flushed(), other); }
    void absorb(table_state&& other) { absorb(other.flushed()); }
    Datum serialized() { return Plan::ship(flushed()); }
    static table_state deserialized(byte_view bytes) { return table_state(Plan::unship(bytes)); }
    value_bytes value() { return write_value(flushed()); }

  private:
    void flush() {
        Plan::put(table_, std::span<const digest>(batch_.data(), waiting_));
        waiting_ = 0;
    }
    body& flushed() {
        flush();
        return table_;
    }

    Plan plan_{};
    body table_;
    hasher hash_;
    std::array<digest, 512> batch_{};
    std::size_t waiting_ = 0;
};

// A row without a key counts for nothing, but it tells the plan.
template <class Plan>
Datum add_key(FunctionCallInfo fcinfo) {
    using of = aggregate<table_state<Plan>>;
    if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg_internal("%s", Plan::null)));
    const Plan plan(fcinfo);
    auto* mine = of::argument(fcinfo, 0);
    if (!mine) {
        mine = of::make(fcinfo);
        guarded([&] { mine->set(table_state<Plan>(plan)); });
    } else if (!mine->object->is_for(plan)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg_internal("%s", Plan::differ)));
    }
    if (!PG_ARGISNULL(1)) {
        key_form::scratch room;
        const auto key = key_form::of_argument(fcinfo, 1)->bytes_of(PG_GETARG_DATUM(1), room);
        guarded([&] { mine->object->add(key); });
    }
    PG_RETURN_POINTER(mine);
}

template <class Plan>
Datum add_table(FunctionCallInfo fcinfo) {
    using of = aggregate<table_state<Plan>>;
    auto* mine = of::argument(fcinfo, 0);
    if (PG_ARGISNULL(1)) return of::pointer(mine, fcinfo);
    const struct varlena* value = PG_GETARG_VARLENA_PP(1);
    if (!mine) mine = of::make(fcinfo);
    guarded([&] {
        auto more = *read_value<typename Plan::body>(bytes_of(value));
        if (mine->object)
            mine->object->absorb(more);
        else
            mine->set(table_state<Plan>(std::move(more)));
    });
    PG_RETURN_POINTER(mine);
}

}  // namespace
}  // namespace posy::postgres

using namespace posy::postgres;  // of this file alone: the functions that SQL calls are in no namespace

POSY_SQL(posy_filter_agg_add) { return add_key<filter_plan>(fcinfo); }
POSY_SQL(posy_filter_union_add) { return add_table<filter_plan>(fcinfo); }
POSY_SQL_AGGREGATE(filter_agg, table_state<filter_plan>)

POSY_SQL(posy_count_min_agg_add) { return add_key<count_plan>(fcinfo); }
POSY_SQL(posy_count_min_union_add) { return add_table<count_plan>(fcinfo); }
POSY_SQL_AGGREGATE(count_min_agg, table_state<count_plan>)
