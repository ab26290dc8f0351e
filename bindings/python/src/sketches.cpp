// posy.CountMin, posy.HeavyHitters and posy.DistinctCounter: how often, which most often, how many different.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <charconv>

#include "classes.hpp"
#include "figures.hpp"
#include "files.hpp"
#include "keyed.hpp"
#include "posy/distinct_counter.hpp"
#include "posy/join_size.hpp"
#include "posy/plan.hpp"
#include "posy/typed/counts.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;
using counts_object = object<count_min>;
using hitters_object = object<heavy_hitters>;
using distinct_object = object<distinct_counter>;

// Nobody knows how many keys there will be.
hasher stream_hasher(const hash_arguments& asked, double rate) {
    return hasher_for(asked, fastest_hash(typed::many_keys, rate));
}

nb::object estimates(const counts_object& o, nb::handle source, bool skip_nulls) {
    const batch keys = counted_batch(source, skip_nulls);
    const answers<std::uint64_t> found(*keys.size(), "uint64");
    std::vector<std::uint64_t> some(piece_size);
    const auto find = [&](std::span<const digest> digests, const rows_of_piece& rows) {
        {
            const std::lock_guard held(o.lock);
            o.body.estimate(digests, std::span(some).first(digests.size()));
        }
        for (std::size_t i = 0; i < digests.size(); ++i) found.at(rows[i]) = some[i];
    };
    return found.array(keys.each_digest(o.hash, find));
}

template <class Object>
void add_table_facts(nb::class_<Object>& type, const auto& table) {
    type.def_prop_ro(
        "total", [=](const Object& o) { return o.briefly([&] { return table(o).total(); }); },
        "The sum of all weights.");
    type.def_prop_ro(
        "width", [=](const Object& o) { return table(o).width(); }, "Counters per row.");
    type.def_prop_ro(
        "depth", [=](const Object& o) { return table(o).depth(); }, "Rows.");
    type.def_prop_ro(
        "error_bound", [=](const Object& o) { return o.briefly([&] { return table(o).error_bound(); }); },
        "Counts are at most this far above the truth, except for a share delta of the keys; never below it.");
}

void add_join(nb::class_<counts_object>& type) {
    type.def(
        "join_size",
        [](const counts_object& a, const counts_object& b, double level) {
            check_level(level);
            return a.alone_with(b, [&] { return value_of(join_size(a.body, b.body, level)); });
        },
        "other"_a, "level"_a = 0.95,
        "How many rows a join of both streams by their keys has: an Estimate. Needs sketches of rule "
        "\"plain\" "
        "and of one size.");
}

void add_counts(nb::module_& m) {
    nb::class_<counts_object> type(
        m, "CountMin",
        "How often keys were seen: never too low, and at most epsilon * total too high, except for a share "
        "delta of the keys.\n\nrule: \"conservative\" has smaller errors; with \"plain\" the sum of two "
        "sketches is bit for bit the sketch of both streams.\n\n"
        ">>> visits = posy.CountMin(0.001, 0.01)\n>>> visits.update([\"a\", \"b\", \"a\"])\n>>> "
        "visits[\"a\"]\n2\n");
    type.def(
        "__init__",
        [](counts_object* self, double epsilon, double delta, std::string_view rule,
           std::optional<std::string> hash, nb::object seed, bool secret) {
            const hasher chosen = stream_hasher({std::move(hash), std::move(seed), secret}, delta);
            new (self) counts_object(value_of(typed::make_counts(
                epsilon, delta, member_named<update_rule>("rule", rule), chosen, counter_width::bits_64)));
        },
        "epsilon"_a = 1e-4, "delta"_a = 0.01, nb::kw_only(), "rule"_a = "conservative", "hash"_a = nb::none(),
        "seed"_a = nb::none(), "secret"_a = false);
    type.def(
        "add",
        [](counts_object& o, nb::handle key, whole<"weight"> times) {
            const std::uint64_t weight = times;
            const digest d = digest_of(key.ptr(), o.hash);
            return o.briefly([&] { return o.body.add(d, weight); });
        },
        "key"_a.none(), "weight"_a = 1, "Count a key, and return its new estimate.");
    type.def(
        "update",
        [](counts_object& o, nb::handle keys, bool skip_nulls) {
            take_batch(o, keys, skip_nulls, [&](std::span<const digest> digests) { o.body.add(digests); });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
        "Count many keys, each once for every time that it comes.");
    type.def("__getitem__", [](const counts_object& o, nb::handle key) {
        const digest d = digest_of(key.ptr(), o.hash);
        return o.briefly([&] { return o.body.estimate(d); });
    });
    type.def("estimate", estimates, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
             "Many keys: an array of their counts.");
    add_join(type);
    add_union(type, "__iadd__", "__add__");
    type.def("__repr__", [](const counts_object& o) {
        return nb::str("<posy.CountMin: {} x {} counters, total {}>")
            .format(o.body.depth(), o.body.width(), o.briefly([&] { return o.body.total(); }));
    });
    add_table_facts(type, [](const counts_object& o) -> const count_min& { return o.body; });
    type.def("__sizeof__", [](const counts_object& o) { return sizeof o + o.body.memory_bytes(); });
    add_hash(type);
    add_files(type);
}

heavy_hitters make_hitters(std::optional<std::uint64_t> top, std::optional<double> share, double epsilon,
                           double delta, const hash_arguments& asked) {
    if (top.has_value() == share.has_value())
        throw exception(
            error::invalid("give either top, a number of keys, or share, a part of the total such as 0.01"));
    const hasher hash = stream_hasher(asked, delta);
    auto table =
        value_of(count_min::with_guarantee(hash, share ? std::min(epsilon, *share / 2) : epsilon, delta,
                                           update_rule::conservative, counter_width::bits_64));
    return value_of(share ? heavy_hitters::above(std::move(table), *share)
                          : heavy_hitters::top(std::move(table), *top));
}

// Calls use(text) with the text of a key: an integer's is its digits.
template <class Use>
void with_text(std::string_view text, const Use& use) {
    use(text);
}
template <class Use>
void with_text(std::uint64_t word, const Use& use) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::int64_t>(word)).ptr;
    use(std::string_view(digits.begin(), end));
}

void count_key(hitters_object& o, auto key, std::uint64_t weight) {
    with_text(key, [&](std::string_view text) {
        const digest d = o.hash(key);
        o.briefly([&] { o.body.add(text, d, weight); });
    });
}

// Text, or bytes where it is no UTF-8.
nb::object key_back(const std::string& key) {
    PyObject* const text = PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), nullptr);
    if (text) return nb::steal(text);
    PyErr_Clear();
    return nb::bytes(key.data(), key.size());
}

nb::list most_common(const hitters_object& o, std::optional<whole<"n">> n) {
    const auto most = number_if<std::uint64_t>(n);
    const auto report = o.alone([&] { return o.body.report(most); });
    nb::list all;
    for (const auto& each : report.keys) all.append(nb::make_tuple(key_back(each.key), each.count));
    return all;
}

// With its keys.
std::size_t memory_of(const hitters_object& o) {
    constexpr std::size_t node = sizeof(candidate_set::map::value_type) + 2 * sizeof(void*);
    std::size_t total = sizeof o + o.body.sketch().memory_bytes();
    for (const auto& [digest, kept] : o.body.candidates().keys()) total += node + kept.key.size();
    return total;
}

void add_hitters(nb::module_& m) {
    nb::class_<hitters_object> type(
        m, "HeavyHitters",
        "The most frequent keys of a stream, in bounded memory: the `top` most frequent ones, or all with at "
        "least a `share` of the total. An int comes back as the text of its digits.\n\n"
        ">>> pages = posy.HeavyHitters(top=10)\n>>> pages.update([\"a\", \"b\", \"a\", \"c\", \"a\", "
        "\"b\"])\n"
        ">>> pages.most_common(2)\n[('a', 3), ('b', 2)]\n");
    type.def(
        "__init__",
        [](hitters_object* self, std::optional<whole<"top">> top, std::optional<double> share, double epsilon,
           double delta, std::optional<std::string> hash, nb::object seed, bool secret) {
            new (self) hitters_object(make_hitters(number_if<std::uint64_t>(top), share, epsilon, delta,
                                                   {std::move(hash), std::move(seed), secret}));
        },
        "top"_a = nb::none(), "share"_a = nb::none(), nb::kw_only(), "epsilon"_a = 1e-4, "delta"_a = 0.01,
        "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false);
    type.def(
        "add",
        [](hitters_object& o, nb::handle key, whole<"weight"> times) {
            const std::uint64_t weight = times;
            with_key(key.ptr(), {}, [&](auto bytes) { count_key(o, bytes, weight); });
        },
        "key"_a.none(), "weight"_a = 1, "Count a key.");
    type.def(
        "update",
        [](hitters_object& o, nb::handle keys, bool skip_nulls) {
            batch(keys, skip_nulls).each_key([&](auto key, std::size_t) { count_key(o, key, 1); });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
        "Count many keys, each once for every time that it comes.");
    type.def("most_common", most_common, "n"_a = nb::none(),
             "A list of (key, count), the most frequent first.");
    type.def("__getitem__", [](const hitters_object& o, nb::handle key) {
        const digest d = digest_of(key.ptr(), o.hash);
        return o.briefly([&] { return o.body.sketch().estimate(d); });
    });
    add_union(type, "__iadd__", "__add__");
    type.def("__repr__", [](const hitters_object& o) {
        return nb::str("<posy.HeavyHitters: total {}>").format(o.briefly([&] {
            return o.body.sketch().total();
        }));
    });
    add_table_facts(type, [](const hitters_object& o) -> const count_min& { return o.body.sketch(); });
    type.def("__sizeof__", [](const hitters_object& o) { return o.alone([&] { return memory_of(o); }); });
    add_hash(type);
    add_files(type);
}

void unite(distinct_object& into, const distinct_object& from) {
    if (into.hash != from.hash)
        throw exception(
            error::mismatch("counters of different hashes or seeds do not unite; with secret=True, "
                            "count the parts in copies of one empty counter"));
    into.alone_with(from, [&] { into.body.unite(from.body); });
}

// Unions and pickles. There is no message of this kind, so that a pickle holds the parts.
void add_partial_counts(nb::class_<distinct_object>& type) {
    type.def(
        "__ior__",
        [](nb::handle_t<distinct_object> self, const distinct_object& other) {
            unite(self_of<distinct_object>(self.ptr()), other);
            return nb::borrow(self);
        },
        nb::is_operator());
    type.def(
        "__or__",
        [](const distinct_object& a, const distinct_object& b) {
            auto both = std::make_unique<distinct_object>(a.briefly([&] { return a.body; }), a.hash);
            unite(*both, b);
            return both;
        },
        nb::is_operator());
    type.def("__getstate__", [](const distinct_object& o) {
        const distinct_counter body = o.briefly([&] { return o.body; });
        nb::list hashes;
        for (const std::uint64_t each : body.hashes()) hashes.append(each);
        return nb::make_tuple(str_of(name_of(o.hash.family())), seed_of(o.hash), hashes,
                              bytes_of(as_bytes(body.highest_runs())));
    });
    type.def("__setstate__",
             [](distinct_object* self,
                const std::tuple<std::string, nb::object, std::vector<std::uint64_t>, nb::bytes>& state) {
                 const auto& [family, seed, hashes, runs] = state;
                 const std::span highest(static_cast<const std::uint8_t*>(runs.data()), runs.size());
                 new (self) distinct_object(value_of(distinct_counter::of(hashes, highest)),
                                            hasher_for({family, seed, false}, hash_family::xxh3));
             });
    add_hash(type);
}

void add_distinct(nb::module_& m) {
    nb::class_<distinct_object> type(
        m, "DistinctCounter",
        "How many different keys there were, in one kibibyte: exact up to 128, then within about 3 %.\n\n"
        ">>> users = posy.DistinctCounter()\n>>> users.update([1, 2, 2, 3])\n>>> users.count.value\n3.0\n");
    type.def(
        "__init__",
        [](distinct_object* self, std::optional<std::string> hash, nb::object seed, bool secret) {
            new (self)
                distinct_object(distinct_counter(),
                                hasher_for({std::move(hash), std::move(seed), secret}, hash_family::xxh3));
        },
        nb::kw_only(), "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false);
    type.def(
        "add",
        [](distinct_object& o, nb::handle key) {
            const digest d = digest_of(key.ptr(), o.hash);
            o.briefly([&] { o.body.add(d); });
        },
        "key"_a.none(), "Count a key, if it is new.");
    type.def(
        "update",
        [](distinct_object& o, nb::handle keys, bool skip_nulls) {
            take_batch(o, keys, skip_nulls, [&](std::span<const digest> digests) {
                for (const digest d : digests) o.body.add(d);
            });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "Count many keys.");
    type.def_prop_ro(
        "count", [](const distinct_object& o) { return o.briefly([&] { return o.body.count(); }); },
        "How many different keys there were: an Estimate.");
    add_partial_counts(type);
    type.def("__repr__", [](const distinct_object& o) {
        return nb::str("<posy.DistinctCounter: {:.6g}>").format(o.briefly([&] {
            return o.body.count().value;
        }));
    });
}

}  // namespace

void add_sketches(nb::module_& m) {
    add_counts(m);
    add_hitters(m);
    add_distinct(m);
}

}  // namespace posy::python
