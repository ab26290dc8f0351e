// Aggregates: filter_agg, seal_agg, map_agg and count_min_agg make a value of the rows' keys; filter_union
// and count_min_union unite values. Rows whose key is NULL are skipped; without any row the result is NULL.
//
// An aggregate is a class with a constructor from its first row, add(row) and finish(). SQLite keeps a
// pointer to it and calls finish() once, also after an error.
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "call.hpp"
#include "posy/plan.hpp"
#include "stored.hpp"

namespace posy::sqlite {
namespace {

using row = std::span<sqlite3_value* const>;
using bytes = std::vector<std::byte>;

// Settings such as a rate are arguments of every row; they are those of the first.
void require_same(double now, double first, const char* name) {
    if (now != first)
        throw exception(error::invalid(std::string(name) +
                                       " changes from row to row; give the same for all rows of a group"));
}

std::uint64_t whole_number(sqlite3_value* value, const char* name) {
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || sqlite3_value_int64(value) < 0)
        throw exception(error::invalid(std::string(name) + " must be an INTEGER of at least 0"));
    return static_cast<std::uint64_t>(sqlite3_value_int64(value));
}

// Like the tool's build -n ITEMS -f RATE, bit for bit. Keys go in by batches, whose memory is prefetched.
class filter_agg {
  public:
    explicit filter_agg(row first)
        : items_(sqlite3_value_double(first[1])),
          rate_(sqlite3_value_double(first[2])),
          filter_(plan(first)) {
        pending_.reserve(batch);
    }
    void add(row r) {
        require_same(sqlite3_value_double(r[1]), items_, "the number of items");
        require_same(sqlite3_value_double(r[2]), rate_, "the rate");
        if (is_null(r[0])) return;
        pending_.push_back(hash_(key_of(r[0])));
        if (pending_.size() == batch) flush();
    }
    bytes finish() {
        flush();
        return to_bytes(filter_);
    }

  private:
    static constexpr std::size_t batch = 1024;

    static bloom_filter plan(row first) {
        const auto plan = choose(
            {.items = whole_number(first[1], "the number of items"), .rate = sqlite3_value_double(first[2])});
        auto filter = bloom_filter::make(plan->geometry());
        filter->set_planned(plan->promise());
        return std::move(*filter);
    }
    void flush() {
        filter_.insert(pending_);
        pending_.clear();
    }

    double items_, rate_;
    bloom_filter filter_;
    hasher hash_ = filter_.hash();
    std::vector<digest> pending_;
};

class filter_union {
  public:
    explicit filter_union(row) {}
    void add(row r) {
        if (is_null(r[0])) return;
        auto next = *stored::read(message_of(r[0]));
        if (united_)
            *unite(*united_, next);
        else
            united_ = std::move(next);
    }
    bytes finish() { return united_ ? to_bytes(united_->body()) : bytes(); }

  private:
    std::optional<stored> united_;
};

// Like the tool's seal -f RATE.
class seal_agg {
  public:
    explicit seal_agg(row first) : rate_(sqlite3_value_double(first[1])) {}
    void add(row r) {
        require_same(sqlite3_value_double(r[1]), rate_, "the rate");
        if (!is_null(r[0])) digests_.push_back(hash_(key_of(r[0])));
    }
    bytes finish() { return to_bytes(*sealed_filter::make(hash_, digests_, {.rate = rate_})); }

  private:
    double rate_;
    hasher hash_;
    std::vector<digest> digests_;
};

// Like the tool's seal --values -f RATE: as many bits per value as the largest needs.
class map_agg {
  public:
    explicit map_agg(row first) : rate_(sqlite3_value_double(first[2])) {}
    void add(row r) {
        require_same(sqlite3_value_double(r[2]), rate_, "the rate");
        if (is_null(r[0]) || is_null(r[1])) return;
        values_.push_back(whole_number(r[1], "a value"));
        digests_.push_back(hash_(key_of(r[0])));
        largest_ |= values_.back();
    }
    bytes finish() {
        const auto value_bits = static_cast<unsigned>(std::bit_width(largest_ | 1));
        return to_bytes(*bloomier_map::make(hash_, digests_, values_, {value_bits, rate_}));
    }

  private:
    double rate_;
    hasher hash_;
    std::vector<digest> digests_;
    std::vector<std::uint64_t> values_;
    std::uint64_t largest_ = 0;
};

// Count-Min with the plain rule, so that united sketches are exactly the sketch of all rows.
class count_min_agg {
  public:
    explicit count_min_agg(row first)
        : epsilon_(sqlite3_value_double(first[1])),
          delta_(sqlite3_value_double(first[2])),
          sketch_(*count_min::with_guarantee(hasher(), epsilon_, delta_)) {}
    void add(row r) {
        require_same(sqlite3_value_double(r[1]), epsilon_, "epsilon");
        require_same(sqlite3_value_double(r[2]), delta_, "delta");
        if (!is_null(r[0])) sketch_.add(hash_(key_of(r[0])));
    }
    bytes finish() { return to_bytes(sketch_); }

  private:
    double epsilon_, delta_;
    count_min sketch_;
    hasher hash_ = sketch_.hash();
};

// What SQLite keeps of an aggregate. All zeros, as it comes from SQLite: no row yet.
template <class Aggregate>
struct running {
    Aggregate* state;
    bool failed;  // the statement has its error; the rest is not worth the work
};

template <class Aggregate>
void step(sqlite3_context* context, int count, sqlite3_value** values) {
    call(context, [&] {
        auto* now =
            static_cast<running<Aggregate>*>(sqlite3_aggregate_context(context, sizeof(running<Aggregate>)));
        if (!now) throw std::bad_alloc();
        if (now->failed) return;
        now->failed = true;  // unless the end is reached
        const row r(values, static_cast<std::size_t>(count));
        if (!now->state) now->state = new Aggregate(r);
        now->state->add(r);
        now->failed = false;
    });
}

template <class Aggregate>
void finish(sqlite3_context* context) {
    call(context, [&] {
        auto* now = static_cast<running<Aggregate>*>(sqlite3_aggregate_context(context, 0));
        if (!now) return;
        const std::unique_ptr<Aggregate> state(now->state);
        if (!state || now->failed) return;
        const bytes made = state->finish();
        if (!made.empty()) return_blob(context, made);
    });
}

template <class Aggregate>
int add(sqlite3* db, const char* name, int arguments) {
    return sqlite3_create_function_v2(db, name, arguments,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr, nullptr,
                                      step<Aggregate>, finish<Aggregate>, nullptr);
}

}  // namespace

int add_aggregates(sqlite3* db) {
    for (const int code :
         {add<filter_agg>(db, "filter_agg", 3), add<filter_union>(db, "filter_union", 1),
          add<seal_agg>(db, "seal_agg", 2), add<map_agg>(db, "map_agg", 3),
          add<count_min_agg>(db, "count_min_agg", 3), add<filter_union>(db, "count_min_union", 1)}) {
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

}  // namespace posy::sqlite
