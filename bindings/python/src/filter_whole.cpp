// posy.Filter as a whole: algebra, files and messages, figures.
#include <nanobind/operators.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "figures.hpp"
#include "files.hpp"
#include "filter.hpp"
#include "names.hpp"
#include "posy/algebra.hpp"
#include "posy/estimate.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

std::unique_ptr<filter_object> made(bloom_filter bits) {
    return std::make_unique<filter_object>(std::move(bits));
}

bloom_filter cloned(const filter_object& f) {
    return f.alone([&] { return value_of(f.body.clone()); });
}

// a := a op b, in place.
template <auto Operation>
void combine(filter_object& a, const filter_object& b) {
    a.alone_with(b, [&] { check_done(Operation(a.body, b.body)); });
}
template <auto Operation>
std::unique_ptr<filter_object> combined(const filter_object& a, const filter_object& b) {
    auto both = made(cloned(a));
    combine<Operation>(*both, b);
    return both;
}
constexpr auto united = [](bloom_filter& a, const bloom_filter& b) { return unite(a, b); };
constexpr auto common = [](bloom_filter& a, const bloom_filter& b) { return intersect(a, b); };

void add_algebra(nb::class_<filter_object>& type) {
    type.def("__or__", combined<united>, nb::is_operator());
    type.def("__and__", combined<common>, nb::is_operator());
    type.def(
        "__ior__",
        [](nb::handle_t<filter_object> self, const filter_object& other) {
            combine<united>(self_of<filter_object>(self.ptr()), other);
            return nb::borrow(self);
        },
        nb::is_operator(), nb::sig("def __ior__(self, other: Filter, /) -> Filter"));
    type.def(
        "__iand__",
        [](nb::handle_t<filter_object> self, const filter_object& other) {
            combine<common>(self_of<filter_object>(self.ptr()), other);
            return nb::borrow(self);
        },
        nb::is_operator(), nb::sig("def __iand__(self, other: Filter, /) -> Filter"));
    type.def(
        "fold",
        [](const filter_object& f, whole<"divisor"> by) {
            const std::uint64_t divisor = by;
            return made(f.alone([&] { return value_of(fold(f.body, divisor)); }));
        },
        "divisor"_a = 2,
        "The same set in bits / divisor bits: bit for bit the filter that would have been built at that "
        "size.\n\n"
        ">>> seen = posy.Filter(1000, 0.001)\n>>> seen.bits, seen.fold(31).bits\n(15872, 512)\n");
    type.def(
        "copy", [](const filter_object& f) { return made(cloned(f)); },
        "A filter of its own with the same bits.");
    type.def("__copy__", [](const filter_object& f) { return made(cloned(f)); });
    type.def("__deepcopy__", [](const filter_object& f, nb::handle) { return made(cloned(f)); });
    type.def(
        "empty_copy",
        [](const filter_object& f) {
            auto blank = value_of(bloom_filter::make(f.body.geometry()));
            blank.set_planned(f.briefly([&] { return f.body.provenance().planned; }));
            return made(std::move(blank));
        },
        "A filter of the same shape without keys: the two can be united.");
    type.def(
        "clear", [](filter_object& f) { f.alone([&] { f.body.clear(); }); }, "Forget all keys.");
}

void add_estimates(nb::class_<filter_object>& type) {
    type.def_prop_ro(
        "items", [](const filter_object& f) { return f.alone([&] { return estimate_items(f.body); }); },
        "How many different keys there are: an Estimate, from the bits.");
    type.def_prop_ro(
        "insertions", [](const filter_object& f) { return f.briefly([&] { return f.body.items(); }); },
        "How many keys were inserted, repeated ones counted again; None for an intersection.");
    type.def_prop_ro(
        "rate", [](const filter_object& f) { return f.alone([&] { return f.body.false_positive_rate(); }); },
        "The share of other keys that are taken for members now, from the bits.");
    type.def_prop_ro(
        "fill", [](const filter_object& f) { return f.alone([&] { return f.body.fill(); }); },
        "The share of bits that are set.");
    type.def(
        "compare",
        [](const filter_object& a, const filter_object& b, double level) {
            check_level(level);
            return a.alone_with(b, [&] { return value_of(compare(a.body, b.body, level)); });
        },
        "other"_a, "level"_a = 0.95,
        "Sizes of two sets, of what they have in common and of their union: a Comparison of Estimates.\n\n"
        ">>> a, b = posy.Filter(1000, 0.01), posy.Filter(1000, 0.01)\n>>> a.update(range(1000)); "
        "b.update(range(500, 1500))\n"
        ">>> round(a.compare(b).intersection.value, -2)\n500.0\n");
}

nb::dict info(const filter_object& f) {
    const geometry& g = f.body.geometry();
    const auto [about, ones, rate, items] = f.alone([&] {
        return std::tuple(f.body.provenance(), f.body.ones(), f.body.false_positive_rate(),
                          estimate_items(f.body));
    });
    nb::dict all;
    all["kind"] = "filter";
    all["bits"] = g.bits;
    all["hashes"] = g.hashes;
    all["layout"] = str_of(name_of(g.layout));
    all["hash"] = str_of(name_of(g.hash));
    all["seed"] = seed_of(f.hash);
    all["planned_items"] = about.planned ? nb::cast(about.planned->items) : nb::none();
    all["planned_rate"] = about.planned ? nb::cast(about.planned->rate) : nb::none();
    all["insertions"] = about.items;
    all["items"] = items;
    all["intersection"] = about.intersection;
    all["fill"] = static_cast<double>(ones) / static_cast<double>(g.bits);
    all["rate"] = rate;
    all["memory_bytes"] = f.body.bits().words().size_bytes();
    return all;
}

void add_shape(nb::class_<filter_object>& type) {
    const auto shape = [&](const char* name, auto get, const char* doc) {
        type.def_prop_ro(
            name, [get](const filter_object& f) { return get(f.body.geometry()); }, doc);
    };
    shape(
        "bits", [](const geometry& g) { return g.bits; }, "The size of its array, in bits.");
    shape(
        "hashes", [](const geometry& g) { return g.hashes; }, "How many bits a key sets.");
    shape(
        "layout", [](const geometry& g) { return str_of(name_of(g.layout)); },
        "Where the bits of a key are.");
    shape(
        "hash", [](const geometry& g) { return str_of(name_of(g.hash)); }, "The family of its hash.");
    type.def_prop_ro(
        "seed", [](const filter_object& f) { return seed_of(f.hash); }, "The seed of its hash.");
    type.def_prop_ro(
        "planned",
        [](const filter_object& f) -> nb::object {
            const auto planned = f.briefly([&] { return f.body.provenance().planned; });
            if (!planned) return nb::none();
            return nb::make_tuple(planned->items, planned->rate);
        },
        nb::sig("def planned(self) -> tuple[int, float] | None"),
        "The number of keys it was planned for, and the rate expected with them; or None.");
    type.def("info", info, "What it is, what is in it and how good it is now: a dict.");
    type.def("__sizeof__",
             [](const filter_object& f) { return sizeof f + f.body.bits().words().size_bytes(); });
    type.def("__repr__", [](const filter_object& f) {
        const geometry& g = f.body.geometry();
        const auto inserted = f.briefly([&] { return f.body.items(); });
        return nb::str("<posy.Filter: {} bits, {} hashes, {}, {}>")
            .format(g.bits, g.hashes, str_of(name_of(g.layout)),
                    inserted ? nb::str("{} insertions").format(*inserted) : nb::str("an intersection"));
    });
}

}  // namespace

void add_filter_whole(nb::class_<filter_object>& type) {
    add_algebra(type);
    add_estimates(type);
    add_shape(type);
    add_files(type);
}

}  // namespace posy::python
