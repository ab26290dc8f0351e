#include "json.hpp"

#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "posy/standing.hpp"

namespace posy::postgres {
namespace {

template <class Number>
std::string shortest(Number number) {
    char room[32];
    return {room, std::to_chars(room, room + sizeof room, number).ptr};
}

std::string seed_text(const hash_seed& seed) {
    char room[35];
    std::snprintf(room, sizeof room, "0x%016" PRIx64 "%016" PRIx64, seed.high, seed.low);
    return room;
}

// What all have.
template <class Body>
json_object about(const Body& body, std::size_t stored_bytes) {
    return json_object()
        .add("kind", name_of(kind_of_body<Body>))
        .add("hash", name_of(body.hash().family()))
        .add("seed", seed_text(body.hash().seed()))
        .add("stored_bytes", std::uint64_t{stored_bytes});
}

}  // namespace

// Names and texts are ours, and need no escapes.
json_object& json_object::raw(std::string_view name, std::string_view value) {
    if (text_.size() > 1) text_ += ", ";
    ((text_ += '"') += name) += "\": ";
    text_ += value;
    return *this;
}

json_object& json_object::add(std::string_view name, std::string_view text) {
    return raw(name, '"' + std::string(text) + '"');
}
json_object& json_object::add(std::string_view name, std::uint64_t number) {
    return raw(name, shortest(number));
}
json_object& json_object::add(std::string_view name, double number) {
    return raw(name, std::isfinite(number) ? shortest(number) : "null");
}
json_object& json_object::add(std::string_view name, bool yes) { return raw(name, yes ? "true" : "false"); }
json_object& json_object::add_null(std::string_view name) { return raw(name, "null"); }
json_object& json_object::add(std::string_view name, const estimate& e) {
    return raw(name, json_object().add("value", e.value).add("low", e.low).add("high", e.high).text());
}

std::string info_of(const bloom_filter& f, std::size_t stored_bytes) {
    const geometry& g = f.geometry();
    const auto of = f.provenance();
    const auto stands = standing_of(f);
    return about(f, stored_bytes)
        .add("bits", g.bits)
        .add("hashes", std::uint64_t{g.hashes})
        .add("layout", name_of(g.layout))
        .add("intersection", of.intersection)
        .add("planned_items", of.planned ? std::optional(of.planned->items) : std::nullopt)
        .add("items", of.items)
        .add("estimated_items", estimate_items(f))
        .add("past_plan", stands && stands->past_plan)
        .add("ones", f.ones())
        .add("fill", f.fill())
        .add("false_positive_rate", f.false_positive_rate())
        .add("planned_false_positive_rate", of.planned ? std::optional(of.planned->rate) : std::nullopt)
        .add("memory_bytes", std::uint64_t{f.bits().words().size_bytes()})
        .text();
}

std::string info_of(const sealed_filter& f, std::size_t stored_bytes) {
    return about(f, stored_bytes)
        .add("items", f.items())
        .add("false_positive_rate", f.false_positive_rate())
        .text();
}

std::string info_of(const bloomier_map& m, std::size_t stored_bytes) {
    return about(m, stored_bytes)
        .add("items", m.items())
        .add("value_bits", std::uint64_t{m.value_bits()})
        .add("false_positive_rate", m.false_positive_rate())
        .text();
}

std::string info_of(const count_min& c, std::size_t stored_bytes) {
    return about(c, stored_bytes)
        .add("width", c.width())
        .add("depth", std::uint64_t{c.depth()})
        .add("rule", name_of(c.rule()))
        .add("total", c.total())
        .add("epsilon", c.epsilon())
        .add("delta", c.delta())
        .add("error_bound", c.error_bound())
        .add("memory_bytes", c.memory_bytes())
        .text();
}

std::string json_of(const comparison& c) {
    return json_object()
        .add("a", c.a)
        .add("b", c.b)
        .add("intersection", c.intersection)
        .add("union", c.united)
        .add("jaccard", c.jaccard)
        .text();
}

}  // namespace posy::postgres
