// posy.Delta, posy.Publisher and posy.Subscriber: a filter that others follow.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "classes.hpp"
#include "deltas.hpp"
#include "files.hpp"
#include "filter.hpp"
#include "keyed.hpp"
#include "posy/publisher.hpp"
#include "posy/subscriber.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;
using counting_object = object<counting_filter>;
using publisher_object = object<publisher>;
using subscriber_object = object<subscriber>;

void add_delta(nb::module_& m) {
    nb::class_<delta_object> type(
        m, "Delta",
        "What changed between two generations of a filter; it turns the old one into the new one.\n\n"
        ">>> old = posy.Filter(1000, 0.01); old.add(\"anna\")\n>>> new = old.copy(); new.add(\"bert\")\n"
        ">>> posy.Delta(old, new).apply_to(old)\n>>> old == new\nTrue\n");
    type.def(
        "__init__",
        [](delta_object* self, const filter_object& from, const filter_object& to,
           whole<"base_generation"> number) {
            const std::uint64_t base_generation = number;
            new (self) delta_object(from.alone_with(
                to, [&] { return value_of(make_delta(from.body, to.body, base_generation)); }));
        },
        "old"_a, "new"_a, "base_generation"_a = 0);
    type.def(
        "apply_to",
        [](const delta_object& d, filter_object& f) { f.alone([&] { check_done(apply(f.body, d.body)); }); },
        "filter"_a,
        "Turn the old filter into the new one. An Error, and nothing has changed, if its bits are not those "
        "of the old one.");
    type.def_prop_ro(
        "changed_bits", [](const delta_object& d) { return d.body.flips.ones(); }, "How many bits differ.");
    type.def_prop_ro(
        "base_generation", [](const delta_object& d) { return d.body.base_generation; },
        "The generation that it changes.");
    type.def("__repr__", [](const delta_object& d) {
        return nb::str("<posy.Delta: {} of {} bits change, from generation {}>")
            .format(d.body.flips.ones(), d.body.geometry.bits, d.body.base_generation);
    });
    add_files(type, "smallest");
}

nb::object reply_to(publisher_object& o, const std::optional<std::pair<std::uint64_t, std::uint32_t>>& have,
                    bool deltas) {
    std::optional<edition> held;
    if (have) held = edition{have->first, have->second};
    const auto reply = o.alone([&] { return value_of(o.body.answer(held, deltas)); });
    return reply.message ? nb::object(bytes_of(*reply.message)) : nb::none();
}

std::optional<std::pair<std::uint64_t, std::uint32_t>> pair_of(std::optional<edition> e) {
    if (!e) return std::nullopt;
    return std::pair(e->generation, e->checksum);
}

void add_changes(nb::class_<publisher_object>& type) {
    type.def(
        "add",
        [](publisher_object& o, nb::handle key) {
            const digest d = digest_of(key.ptr(), o.hash);
            o.briefly([&] { o.body.insert(d); });
        },
        "key"_a.none(), "Insert a key; others learn of it with the next generation.");
    type.def(
        "discard",
        [](publisher_object& o, nb::handle key) {
            const digest d = digest_of(key.ptr(), o.hash);
            return o.briefly([&] { return o.body.remove(d); });
        },
        "key"_a.none(), "Remove a key; False if it is certainly absent.");
}

void add_publisher(nb::module_& m) {
    nb::class_<publisher_object> type(
        m, "Publisher",
        "The sending side: a set that changes, published in generations. Time is handed in, in "
        "milliseconds; nothing waits, and messages are bytes.\n\n"
        ">>> here = posy.Publisher(posy.CountingFilter(1000, 0.01)); there = posy.Subscriber()\n"
        ">>> here.add(\"anna\"); here.publish(now=1)\n>>> there.receive(here.answer(there.edition), "
        "now=2)\n'replaced'\n"
        ">>> \"anna\" in there.filter\nTrue\n");
    type.def(
        "__init__",
        [](publisher_object* self, const counting_object& set, double change, whole<"max_age"> max_age,
           whole<"first_generation"> first_generation, whole<"now"> time) {
            const std::uint64_t now = time;
            const publishing how{.change = change, .max_age = max_age, .first_generation = first_generation};
            // A copy, by way of its message: the set belongs to the publisher.
            auto copy =
                set.alone([&] { return expected<counting_filter>(body_of_bytes(to_bytes(set.body))); });
            const hasher hash = copy.hash();
            new (self) publisher_object(value_of(publisher::make(std::move(copy), how, now)), hash);
        },
        "set"_a, nb::kw_only(), "change"_a = 0.05, "max_age"_a = 300'000, "first_generation"_a = 1,
        "now"_a = 0);
    add_changes(type);
    type.def(
        "due",
        [](const publisher_object& o, whole<"now"> time) {
            const std::uint64_t now = time;
            return o.briefly([&] { return o.body.due(now); });
        },
        "now"_a, "Is it time to publish?");
    type.def(
        "publish",
        [](publisher_object& o, whole<"now"> time) {
            const std::uint64_t now = time;
            o.alone([&] { check_done(o.body.publish(now)); });
        },
        "now"_a, "Make the present state the next generation.");
    type.def_prop_ro(
        "generation",
        [](const publisher_object& o) { return o.briefly([&] { return o.body.generation(); }); },
        "The last one that was published.");
    type.def(
        "answer", reply_to, "have"_a = nb::none(), "deltas"_a = true,
        "What to send to a subscriber that holds this edition: a message, or None if that is the newest.");
    type.def("__repr__", [](const publisher_object& o) {
        return nb::str("<posy.Publisher: generation {}>").format(o.briefly([&] {
            return o.body.generation();
        }));
    });
}

std::string_view name_of_reception(reception r) {
    switch (r) {
        case reception::replaced:
            return "replaced";
        case reception::updated:
            return "updated";
        case reception::duplicate:
            return "duplicate";
        case reception::outdated:
            return "outdated";
        case reception::gap:
            return "gap";
        case reception::wrong_base:
            return "wrong base";
        case reception::too_large:
            return "too large";
        case reception::damaged:
            return "damaged";
    }
    return {};
}

void add_subscriber(nb::module_& m) {
    nb::class_<subscriber_object> type(
        m, "Subscriber", "The receiving side: it holds the last complete generation, whatever arrives.");
    type.def("__init__",
             [](subscriber_object* self) { new (self) subscriber_object(subscriber(), hasher()); });
    type.def(
        "receive",
        [](subscriber_object& o, nb::handle message, whole<"now"> time) {
            const std::uint64_t now = time;
            const held_bytes bytes(message);
            return str_of(name_of_reception(o.alone([&] { return o.body.receive(bytes.view(), now); })));
        },
        "message"_a, "now"_a,
        "Take a message. What became of it: replaced, updated, duplicate, outdated, gap, wrong base, too "
        "large or damaged.");
    type.def_prop_ro(
        "complaint", [](const subscriber_object& o) { return o.briefly([&] { return o.body.complaint(); }); },
        "Why the last message was damaged or too large.");
    type.def_prop_ro(
        "wants", [](const subscriber_object& o) { return o.briefly([&] { return o.body.wants(); }); },
        "Does it need an answer of the publisher? Then ask for Publisher.answer(edition).");
    type.def_prop_ro(
        "edition",
        [](const subscriber_object& o) { return pair_of(o.briefly([&] { return o.body.edition(); })); },
        "The generation that it holds and the checksum of its bits; None when only the whole filter will "
        "do.");
    type.def_prop_ro(
        "filter",
        [](const subscriber_object& o) -> std::unique_ptr<filter_object> {
            const auto held = o.briefly([&] { return o.body.shared_filter(); });
            return held ? std::make_unique<filter_object>(value_of(held->clone())) : nullptr;
        },
        nb::sig("def filter(self) -> Filter | None"),
        "A copy of the filter that it holds; None until one has arrived.");
    type.def("__repr__", [](const subscriber_object& o) {
        const auto held = o.briefly([&] { return o.body.edition(); });
        if (!held) return nb::str("<posy.Subscriber: needs a whole filter>");
        return nb::str("<posy.Subscriber: generation {}>").format(held->generation);
    });
}

}  // namespace

void add_deltas(nb::module_& m) {
    add_delta(m);
    add_publisher(m);
    add_subscriber(m);
}

}  // namespace posy::python
