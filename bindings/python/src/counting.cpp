// posy.CountingFilter: a filter from which keys can be removed.
#include "posy/typed/counting.hpp"

#include "classes.hpp"
#include "files.hpp"
#include "filter.hpp"
#include "keyed.hpp"
#include "posy/plan.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;
using counting_object = object<counting_filter>;

bool discard(counting_object& o, nb::handle key) {
    const digest d = digest_of(key.ptr(), o.hash);
    return o.briefly([&] { return o.body.remove(d); });
}

nb::object discard_many(counting_object& o, nb::handle source, bool skip_nulls) {
    const batch keys = counted_batch(source, skip_nulls);
    const answers<bool> removed(*keys.size(), "bool");
    const auto remove = [&](std::span<const digest> digests, const rows_of_piece& rows) {
        std::array<bool, piece_size> some;
        {
            const std::lock_guard held(o.lock);
            o.body.remove(digests, std::span(some.data(), digests.size()));
        }
        for (std::size_t i = 0; i < digests.size(); ++i) removed.at(rows[i]) = some[i];
    };
    return removed.array(keys.each_digest(o.hash, remove));
}

void add_changes(nb::class_<counting_object>& type) {
    type.def(
        "add",
        [](counting_object& o, nb::handle key) {
            const digest d = digest_of(key.ptr(), o.hash);
            o.briefly([&] { o.body.insert(d); });
        },
        "key"_a.none(), "Insert a key. One that is inserted twice has to be removed twice.");
    type.def(
        "update",
        [](counting_object& o, nb::handle keys, bool skip_nulls) {
            take_batch(o, keys, skip_nulls, [&](std::span<const digest> digests) { o.body.insert(digests); });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "Insert many keys, as Filter.update().");
    type.def(
        "remove",
        [](counting_object& o, nb::handle key) {
            if (discard(o, key)) return;
            PyErr_SetObject(PyExc_KeyError, key.ptr());
            throw nb::python_error();
        },
        "key"_a.none(),
        "Remove a key that was inserted. KeyError if it is certainly absent.\n\nTo remove a key that was "
        "never inserted and is a false "
        "positive damages the filter.");
    type.def("discard", discard, "key"_a.none(),
             "Remove a key; False if it is certainly absent, and then nothing has changed.");
    type.def("discard_many", discard_many, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
             "Remove many keys: an array of bools, False where a key was certainly absent.");
    type.def(
        "clear", [](counting_object& o) { o.alone([&] { o.body.clear(); }); }, "Forget all keys.");
}

void add_facts(nb::class_<counting_object>& type) {
    type.def_prop_ro(
        "items", [](const counting_object& o) { return o.briefly([&] { return o.body.items(); }); },
        "Insertions less removals.");
    type.def_prop_ro(
        "rate",
        [](const counting_object& o) {
            return o.alone([&] { return o.body.projection().false_positive_rate(); });
        },
        "The share of other keys that are taken for members now, from the bits.");
    type.def_prop_ro(
        "bits", [](const counting_object& o) { return o.body.geometry().bits; },
        "How many counters there are.");
    type.def_prop_ro(
        "hashes", [](const counting_object& o) { return o.body.geometry().hashes; },
        "How many counters a key has.");
    type.def_prop_ro(
        "layout", [](const counting_object& o) { return str_of(name_of(o.body.geometry().layout)); },
        "Where the counters of a key are.");
    type.def_prop_ro(
        "counter_bits", [](const counting_object& o) { return o.body.counters().width(); },
        "The width of a counter.");
    type.def_prop_ro(
        "saturated", [](const counting_object& o) { return o.alone([&] { return o.body.saturated(); }); },
        "Counters that have reached their largest value, where they stay.");
    type.def(
        "filter",
        [](const counting_object& o) {
            return std::make_unique<filter_object>(
                o.alone([&] { return value_of(o.body.projection().clone()); }));
        },
        "The plain Filter of the keys now present, an eighth of the size.");
    type.def("__repr__", [](const counting_object& o) {
        return nb::str("<posy.CountingFilter: {} counters of {} bits, {} items>")
            .format(o.body.geometry().bits, o.body.counters().width(),
                    o.briefly([&] { return o.body.items(); }));
    });
}

}  // namespace

void add_counting(nb::module_& m) {
    nb::class_<counting_object> type(
        m, "CountingFilter",
        "A Bloom filter with counters in place of bits, from which keys can be removed.\n\n"
        ">>> now = posy.CountingFilter(1000, 0.001)\n>>> now.update([\"anna\", \"bert\"])\n>>> "
        "now.remove(\"anna\")\n"
        ">>> \"anna\" in now, \"bert\" in now\n(False, True)\n");
    type.def(
        "__init__",
        [](counting_object* self, whole<"items"> asked, double rate, std::optional<std::string> hash,
           nb::object seed, bool secret) {
            const std::uint64_t items = asked;
            const hasher chosen = hasher_for({std::move(hash), std::move(seed), secret},
                                             fastest_hash(static_cast<double>(items), rate));
            new (self) counting_object(value_of(typed::make_counting(items, rate, chosen)));
        },
        "items"_a, "rate"_a = 0.01, nb::kw_only(), "hash"_a = nb::none(), "seed"_a = nb::none(),
        "secret"_a = false);
    add_changes(type);
    add_facts(type);
    add_lookup(type);
    add_files(type);
}

}  // namespace posy::python
