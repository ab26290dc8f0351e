// Plans, and the options of filters.
#include "options.hpp"
#include "posy/delta.hpp"

namespace posy::c {
namespace {

template <class T>
std::optional<T> unless_zero(T value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

wishes wishes_of(const posy_wishes& from) {
    std::optional<goal> minimize;
    if (from.minimize != 0) {
        const std::uint32_t number = from.minimize - 1;  // the library counts them from 0
        require(number <= 255 && is_member(static_cast<goal>(number)), "minimize is none of POSY_GOAL_…");
        minimize = static_cast<goal>(number);
    }
    return {.items = from.items,
            .rate = unless_zero(from.rate),
            .bits_per_item = unless_zero(from.bits_per_item),
            .message_bits_per_item = unless_zero(from.message_bits_per_item),
            .max_memory = unless_zero(from.max_memory),
            .hashes = unless_zero(from.hashes),
            .max_hashes = unless_zero(from.max_hashes),
            .layout = member<layout_id>(from.layout, "layout"),
            .delta_bits_per_item = unless_zero(from.delta_bits_per_item),
            .delta_fraction = unless_zero(from.delta_fraction),
            .hash = member<hash_family>(from.hash, "hash"),
            .minimize = minimize};
}

}  // namespace

planned_array array_of(const posy_filter_options& from, const std::optional<hasher>& hash) {
    require(from.rate == 0, "bits and rate: give one of them; the array decides the rate");
    const auto layout = member<layout_id>(from.layout, "layout").value_or(layout_id::blocked);
    const hasher chosen = hash.value_or(hasher(hash_family::xxh3));
    posy::geometry g{from.bits, from.hashes, layout, chosen.family(), chosen.seed()};
    *check(g);
    if (from.items == 0) return {g, std::nullopt};
    if (!hash) {
        const auto items = static_cast<double>(from.items);
        g.hash = fastest_hash(items, (*predict(from.items, g)).false_positive_rate);
    }
    return {g, (*predict(from.items, g)).promise()};
}

posy_filter_info info_of(const bloom_filter& filter) {
    const auto& g = filter.geometry();
    const auto from = filter.provenance();
    return {.struct_size = 0,
            .bits = g.bits,
            .hashes = g.hashes,
            .layout = static_cast<std::uint32_t>(g.layout),
            .hash = static_cast<std::uint32_t>(g.hash),
            .checksum = bits_checksum(filter.bits()),
            .seed_low = g.seed.low,
            .seed_high = g.seed.high,
            .items = from.items.value_or(POSY_UNKNOWN),
            .ones = filter.ones(),
            .fill = filter.fill(),
            .false_positive_rate = filter.false_positive_rate(),
            .planned_items = from.planned ? from.planned->items : 0,
            .planned_rate = from.planned ? from.planned->rate : 0,
            .memory_bytes = filter.bits().words().size_bytes()};
}

}  // namespace posy::c

using namespace posy::c;

posy_status posy_plan_choose(const posy_wishes* wishes, posy_plan* plan, posy_error* error) {
    return call(error, [&] {
        const auto chosen = *posy::choose(wishes_of(read(wishes, "wishes")));
        write(plan, "plan",
              {.struct_size = 0,
               .items = chosen.items,
               .bits = chosen.bits,
               .hashes = chosen.hashes,
               .layout = static_cast<std::uint32_t>(chosen.layout),
               .hash = static_cast<std::uint32_t>(chosen.hash),
               .memory_bytes = chosen.memory_bytes(),
               .fill = chosen.fill,
               .false_positive_rate = chosen.false_positive_rate,
               .message_bits = chosen.message_bits,
               .delta_bits = chosen.delta_bits.value_or(0)});
    });
}
