// posy.GrowingFilter and posy.WindowFilter: sets of unknown size, and sets that forget.
#include <cmath>

#include "classes.hpp"
#include "figures.hpp"
#include "files.hpp"
#include "keyed.hpp"
#include "posy/plan.hpp"
#include "posy/typed/growing.hpp"
#include "posy/typed/window.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;
using growing_object = object<growing_filter>;
using window_object = object<window_filter>;

// Seconds as Python has them, in microseconds as posy::typed::window has them.
std::uint64_t ticks_of(double seconds) {
    if (!(seconds >= 0) || seconds >= 0x1p63 / 1e6)
        throw exception(error::invalid("a time is a number of seconds, 0 or more, below 2**63 microseconds"));
    return static_cast<std::uint64_t>(std::llround(seconds * 1e6));
}

void add_growing_filter(nb::module_& m) {
    nb::class_<growing_object> type(
        m, "GrowingFilter",
        "A filter that keeps a promised rate for any number of keys.\n\n"
        ">>> seen = posy.GrowingFilter(0.01)\n>>> seen.update(range(1000))\n>>> 7 in seen\nTrue\n");
    type.def(
        "__init__",
        [](growing_object* self, double rate, std::optional<std::string> hash, nb::object seed, bool secret) {
            const hasher chosen =
                hasher_for({std::move(hash), std::move(seed), secret}, fastest_hash(typed::many_keys, rate));
            new (self) growing_object(value_of(typed::make_growing(rate, chosen)));
        },
        "rate"_a = 0.01, nb::kw_only(), "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false);
    type.def(
        "add",
        [](growing_object& o, nb::handle key) {
            const digest d = digest_of(key.ptr(), o.hash);
            o.briefly([&] { check_done(o.body.insert(d)); });
        },
        "key"_a.none(), "Insert a key.");
    type.def(
        "update",
        [](growing_object& o, nb::handle keys, bool skip_nulls) {
            take_batch(o, keys, skip_nulls,
                       [&](std::span<const digest> digests) { check_done(o.body.insert(digests)); });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "Insert many keys, as Filter.update().");
    type.def(
        "shrink", [](growing_object& o) { o.alone([&] { check_done(o.body.shrink()); }); },
        "Fold it as far as the promise allows. From then on no keys can be inserted.");
    type.def_prop_ro(
        "items", [](const growing_object& o) { return o.alone([&] { return estimate_items(o.body); }); },
        "How many different keys there are: an Estimate.");
    type.def_prop_ro(
        "insertions", [](const growing_object& o) { return o.briefly([&] { return o.body.items(); }); },
        "How many keys were inserted, repeated ones counted again.");
    type.def_prop_ro(
        "rate", [](const growing_object& o) { return o.alone([&] { return o.body.false_positive_rate(); }); },
        "The share of other keys that are taken for members now.");
    type.def_prop_ro(
        "promised_rate", [](const growing_object& o) { return o.body.promised_rate(); },
        "What the rate stays below.");
    type.def_prop_ro(
        "bits", [](const growing_object& o) { return o.briefly([&] { return o.body.bits(); }); },
        "Of all its arrays.");
    type.def("__repr__", [](const growing_object& o) {
        return nb::str("<posy.GrowingFilter: {} bits, {} insertions>")
            .format(o.briefly([&] { return o.body.bits(); }), o.briefly([&] { return o.body.items(); }));
    });
    add_union(type, "__ior__", "__or__");
    add_lookup(type);
    add_files(type);
}

nb::object seen_many(const window_object& o, nb::handle source, double time, bool skip_nulls) {
    const std::uint64_t now = ticks_of(time);
    const batch keys = counted_batch(source, skip_nulls);
    const answers<bool> found(*keys.size(), "bool");
    const auto find = [&](std::span<const digest> digests, const rows_of_piece& rows) {
        std::array<bool, piece_size> some;
        {
            const std::lock_guard held(o.lock);
            o.body.may_contain(digests, now, std::span(some.data(), digests.size()));
        }
        for (std::size_t i = 0; i < digests.size(); ++i) found.at(rows[i]) = some[i];
    };
    return found.array(keys.each_digest(o.hash, find));
}

void add_window_keys(nb::class_<window_object>& type) {
    type.def(
        "add",
        [](window_object& o, nb::handle key, double time) {
            const digest d = digest_of(key.ptr(), o.hash);
            const std::uint64_t now = ticks_of(time);
            return o.briefly([&] { return o.body.insert(d, now); });
        },
        "key"_a.none(), "time"_a,
        "Insert a key at this time, in seconds; False if that is longer ago than the window.");
    type.def(
        "update",
        [](window_object& o, nb::handle keys, double time, bool skip_nulls) {
            const std::uint64_t now = ticks_of(time);
            bool inserted = true;
            take_batch(o, keys, skip_nulls, [&](std::span<const digest> digests) {
                if (!o.body.insert(digests, now)) inserted = false;
            });
            return inserted;
        },
        "keys"_a.none(), "time"_a, nb::kw_only(), "skip_nulls"_a = false,
        "Insert many keys at one time; False if that is longer ago than the window.");
    type.def(
        "seen",
        [](const window_object& o, nb::handle key, double time) {
            const digest d = digest_of(key.ptr(), o.hash);
            const std::uint64_t now = ticks_of(time);
            return o.briefly([&] { return o.body.may_contain(d, now); });
        },
        "key"_a.none(), "time"_a, "Was the key inserted within the window before this time?");
    type.def("seen_many", seen_many, "keys"_a.none(), "time"_a, nb::kw_only(), "skip_nulls"_a = false,
             "Many keys: an array of bools.");
}

}  // namespace

void add_growing(nb::module_& m) { add_growing_filter(m); }

void add_window(nb::module_& m) {
    nb::class_<window_object> type(
        m, "WindowFilter",
        "Keys seen lately: each is remembered for at least `window` seconds after it came, and for at most "
        "window * (1 + 1/generations). Time is handed in, in seconds.\n\n"
        ">>> lately = posy.WindowFilter(1000, 0.01, window=60)\n>>> lately.add(\"anna\", time=10)\nTrue\n"
        ">>> lately.seen(\"anna\", time=30), lately.seen(\"anna\", time=300)\n(True, False)\n");
    type.def(
        "__init__",
        [](window_object* self, whole<"items"> asked, double rate, double window,
           whole_32<"generations"> generations, std::optional<std::string> hash, nb::object seed,
           bool secret) {
            const std::uint64_t items = asked;
            const hasher chosen = hasher_for({std::move(hash), std::move(seed), secret},
                                             fastest_hash(static_cast<double>(items), rate));
            new (self) window_object(value_of(window_filter::with_rate(
                items, rate, ticks_of(window), generations, layout_id::blocked, chosen)));
        },
        "items"_a, "rate"_a, "window"_a, "generations"_a = 8, nb::kw_only(), "hash"_a = nb::none(),
        "seed"_a = nb::none(), "secret"_a = false);
    add_window_keys(type);
    type.def(
        "items",
        [](const window_object& o, double time) {
            const auto now = ticks_of(time);
            return o.briefly([&] { return o.body.items(now); });
        },
        "time"_a, "How many keys are remembered at this time.");
    type.def(
        "rate",
        [](const window_object& o, double time) {
            const auto now = ticks_of(time);
            return o.alone([&] { return o.body.false_positive_rate(now); });
        },
        "time"_a, "The share of other keys that seem to have been seen at this time.");
    type.def_prop_ro(
        "nbytes", [](const window_object& o) { return o.briefly([&] { return o.body.memory_bytes(); }); },
        "Memory of its arrays.");
    type.def("__repr__", [](const window_object& o) {
        const auto [seconds, bytes] = o.briefly([&] {
            return std::pair(static_cast<double>(o.body.remembered_at_least()) / 1e6, o.body.memory_bytes());
        });
        return nb::str("<posy.WindowFilter: {:g} s in {} generations, {} bytes>")
            .format(seconds, o.body.generations(), bytes);
    });
    add_union(type, "__ior__", "__or__");
    add_hash(type);
    add_files(type);
}

}  // namespace posy::python
