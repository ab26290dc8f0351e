// seal_agg(key, rate) and map_agg(key, value, rate): what can only be made when all keys are known.
//
// The state is the digest of every key, with its value in a map, at 16 or 24 bytes; the last step solves the
// system of equations (docs/sealed.md). The result depends on the set alone, not on the order of the rows, so
// a parallel aggregate is bit for bit the serial one. Sealing cannot be interrupted; it takes a tenth of a
// microsecond per key.
#include <bit>
#include <cstring>

#include "aggregates.hpp"

namespace posy::postgres {
namespace {

struct no_value {};

// Value is std::uint64_t in a map and no_value in a sealed filter.
template <class Value>
class key_list {
  public:
    static constexpr bool is_map = std::is_same_v<Value, std::uint64_t>;

    // A rate that cannot be is refused with the first row, not when all keys have been gathered.
    explicit key_list(double rate) : rate_(rate) {
        if (!(rate > 0 && rate <= 1))
            throw exception(error::invalid("the rate must be above 0 and at most 1"));
    }

    bool is_for(double rate) const { return rate == rate_; }
    void add(std::string_view key, Value value) {
        digests_.push_back(hash_(key));
        if constexpr (is_map) values_.push_back(value);
    }
    void absorb(key_list&& other) {
        digests_.insert(digests_.end(), other.digests_.begin(), other.digests_.end());
        values_.insert(values_.end(), other.values_.begin(), other.values_.end());
    }

    Datum serialized() {
        struct varlena* bytes = room_for(sizeof rate_ + digests_.size() * sizeof(digest) +
                                         values_.size() * sizeof(std::uint64_t));
        char* at = VARDATA(bytes);
        std::memcpy(at, &rate_, sizeof rate_);
        at += sizeof rate_;
        if (!digests_.empty()) std::memcpy(at, digests_.data(), digests_.size() * sizeof(digest));
        at += digests_.size() * sizeof(digest);
        if (!values_.empty()) std::memcpy(at, values_.data(), values_.size() * sizeof(std::uint64_t));
        return PointerGetDatum(bytes);
    }
    static key_list deserialized(byte_view bytes) {
        key_list list(1);
        std::memcpy(&list.rate_, bytes.data(), sizeof list.rate_);
        bytes = bytes.subspan(sizeof list.rate_);
        const std::size_t keys = bytes.size() / (sizeof(digest) + (is_map ? sizeof(std::uint64_t) : 0));
        list.digests_.resize(keys);
        list.values_.resize(is_map ? keys : 0);
        if (keys == 0) return list;
        std::memcpy(list.digests_.data(), bytes.data(), keys * sizeof(digest));
        if constexpr (is_map)
            std::memcpy(list.values_.data(), bytes.data() + keys * sizeof(digest),
                        keys * sizeof(std::uint64_t));
        return list;
    }

    value_bytes value() {
        value_bytes bytes = write_value(sealed());
        if (bytes.size() > max_array_bytes)
            throw exception(error::too_large("these keys take " + std::to_string(bytes.size() >> 20) +
                                             " MiB, and a value takes at most " +
                                             std::to_string(max_array_bytes >> 20) + "; make several"));
        return bytes;
    }

  private:
    auto sealed() const {
        if constexpr (is_map) {
            std::uint64_t all = 1;
            for (const std::uint64_t each : values_) all |= each;
            const auto width = static_cast<unsigned>(std::bit_width(all));
            return *bloomier_map::make(hash_, digests_, values_, {.value_bits = width, .rate = rate_});
        } else {
            return *sealed_filter::make(hash_, digests_, {.rate = rate_});
        }
    }

    hasher hash_{};
    double rate_;
    std::vector<digest> digests_{};
    std::vector<std::uint64_t> values_{};  // of a map
};

// The state with this rate, which is the last argument.
template <class Value>
owned<key_list<Value>>* list_for(FunctionCallInfo fcinfo, int rate_argument) {
    using of = aggregate<key_list<Value>>;
    if (PG_ARGISNULL(rate_argument))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("posy: the rate must not be null")));
    const double rate = PG_GETARG_FLOAT8(rate_argument);
    auto* mine = of::argument(fcinfo, 0);
    if (!mine) {
        mine = of::make(fcinfo);
        guarded([&] { mine->set(key_list<Value>(rate)); });
    } else if (!mine->object->is_for(rate)) {
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("posy: the rate must be the same in all rows")));
    }
    return mine;
}

template <class Value>
void add_pair(owned<key_list<Value>>* list, FunctionCallInfo fcinfo, Value value) {
    key_form::scratch room;
    const auto key = key_form::of_argument(fcinfo, 1)->bytes_of(PG_GETARG_DATUM(1), room);
    guarded([&] { list->object->add(key, value); });
}

}  // namespace
}  // namespace posy::postgres

using namespace posy::postgres;  // of this file alone: the functions that SQL calls are in no namespace

POSY_SQL(posy_seal_agg_add) {
    auto* mine = list_for<no_value>(fcinfo, 2);
    if (!PG_ARGISNULL(1)) add_pair(mine, fcinfo, no_value{});
    PG_RETURN_POINTER(mine);
}
POSY_SQL_AGGREGATE(seal_agg, key_list<no_value>)

// A key without a value is as one that is not there: a lookup finds null.
POSY_SQL(posy_map_agg_add) {
    auto* mine = list_for<std::uint64_t>(fcinfo, 3);
    if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2)) {
        const std::int64_t value = PG_GETARG_INT64(2);
        if (value < 0)
            ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                            errmsg("posy: map_agg: values must be 0 or more, and one is %lld",
                                   static_cast<long long>(value))));
        add_pair(mine, fcinfo, static_cast<std::uint64_t>(value));
    }
    PG_RETURN_POINTER(mine);
}
POSY_SQL_AGGREGATE(map_agg, key_list<std::uint64_t>)
