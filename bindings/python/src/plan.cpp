// What posy.plan() is made of: the planner, its figures as attributes. posy/planning.py adds what is Python's
// own.
#include "posy/plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "classes.hpp"
#include "filter.hpp"
#include "names.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

template <class Enum>
std::optional<Enum> maybe_named(std::string_view what, const std::optional<std::string>& name) {
    if (!name) return std::nullopt;
    return member_named<Enum>(what, *name);
}

bloom_filter filter_of(const plan& p, const hash_arguments& asked) {
    const hasher hash = hasher_for(asked, p.hash);
    auto made = value_of(bloom_filter::make(p.geometry(hash.family(), hash.seed())));
    made.set_planned(p.promise());
    return made;
}

void add_plan_class(nb::module_& m) {
    nb::class_<plan> type(
        m, "Plan", "A filter as it will be: every figure is computed for the array that will be built.");
    type.def_ro("items", &plan::items, "How many different keys it is for.");
    type.def_ro("bits", &plan::bits, "The size of its array, in bits.");
    type.def_ro("hashes", &plan::hashes, "How many bits a key sets.");
    type.def_prop_ro(
        "layout", [](const plan& p) { return str_of(name_of(p.layout)); }, "Where the bits of a key are.");
    type.def_prop_ro(
        "hash", [](const plan& p) { return str_of(name_of(p.hash)); }, "The family of its hash.");
    type.def_ro("rate", &plan::false_positive_rate,
                "The expected share of other keys that are taken for members.");
    type.def_ro("fill", &plan::fill, "The expected share of bits that are set.");
    type.def_ro("message_bits", &plan::message_bits, "The expected size of the smallest message, in bits.");
    type.def_ro("delta_bits", &plan::delta_bits,
                "The expected size of an update, in bits, if a delta fraction was given.");
    type.def_prop_ro("bits_per_item", &plan::bits_per_item, "bits / items.");
    type.def_prop_ro("message_bits_per_item", &plan::message_bits_per_item, "message_bits / items.");
    type.def_prop_ro("memory_bytes", &plan::memory_bytes, "The size of its array, in bytes.");
    type.def(
        "filter",
        [](const plan& p, std::optional<std::string> hash, nb::object seed, bool secret) {
            return std::make_unique<filter_object>(filter_of(p, {std::move(hash), std::move(seed), secret}));
        },
        nb::kw_only(), "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false,
        "A Filter of this plan, empty.");
    type.def("__repr__", [](const plan& p) {
        return nb::str("<posy.Plan: {} items, rate {:.4g}: {} bits, {} hashes, {}>")
            .format(p.items, p.false_positive_rate, p.bits, p.hashes, str_of(name_of(p.layout)));
    });
}

}  // namespace

void add_plan(nb::module_& m) {
    nb::class_<wishes>(m, "_Wishes")
        .def(
            "__init__",
            [](wishes* self, whole<"items"> items, std::optional<double> rate,
               std::optional<double> bits_per_item, std::optional<double> message_bits_per_item,
               std::optional<whole<"max_memory">> max_memory, std::optional<whole_32<"hashes">> hashes,
               std::optional<whole_32<"max_hashes">> max_hashes, const std::optional<std::string>& layout,
               std::optional<double> delta_bits_per_item, std::optional<double> delta_fraction,
               const std::optional<std::string>& hash, const std::optional<std::string>& minimize) {
                new (self) wishes{items,
                                  rate,
                                  bits_per_item,
                                  message_bits_per_item,
                                  number_if<std::uint64_t>(max_memory),
                                  number_if<unsigned>(hashes),
                                  number_if<unsigned>(max_hashes),
                                  maybe_named<layout_id>("layout", layout),
                                  delta_bits_per_item,
                                  delta_fraction,
                                  maybe_named<hash_family>("hash", hash),
                                  maybe_named<goal>("goal", minimize)};
            },
            "items"_a, nb::kw_only(), "rate"_a = nb::none(), "bits_per_item"_a = nb::none(),
            "message_bits_per_item"_a = nb::none(), "max_memory"_a = nb::none(), "hashes"_a = nb::none(),
            "max_hashes"_a = nb::none(), "layout"_a = nb::none(), "delta_bits_per_item"_a = nb::none(),
            "delta_fraction"_a = nb::none(), "hash"_a = nb::none(), "minimize"_a = nb::none());
    add_plan_class(m);
    m.def("_advise", [](const wishes& w) {
        const auto found = value_of(advise(w));
        std::vector<std::pair<std::string, plan>> others;
        for (const auto& each : found.alternatives) others.emplace_back(each.name, each.plan);
        nb::list sealed;
        for (const auto& each : found.sealed)
            sealed.append(nb::make_tuple(each.name, each.false_positive_rate, each.message_bits));
        return nb::make_tuple(found.chosen, others, sealed);
    });
    m.def("_rate_of", [](const plan& p, std::uint64_t items) {
        return value_of(predict(items, p.geometry())).false_positive_rate;
    });
    m.def("_tradeoff", [](const wishes& w) { return value_of(tradeoff(w)); });
}

}  // namespace posy::python
