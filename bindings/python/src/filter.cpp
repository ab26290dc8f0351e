// posy.Filter: construction, single keys and batches. Its algebra, files and figures are in filter_whole.cpp.
#include "filter.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "answers.hpp"
#include "batch.hpp"
#include "names.hpp"
#include "posy/filter.hpp"
#include "posy/parallel.hpp"
#include "posy/plan.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

bloom_filter new_filter(std::uint64_t items, double rate, const std::string& layout,
                        std::optional<unsigned> hashes, const hash_arguments& asked) {
    const hasher hash = hasher_for(asked, fastest_hash(static_cast<double>(items), rate));
    if (hashes == 0U) throw exception(error::invalid("a filter needs at least one hash"));
    return value_of(
        typed::make_filter(items, rate, member_named<layout_id>("layout", layout), hashes.value_or(0), hash));
}

// Single keys are slots and a plain method: called a few hundred million times, they have no arguments to be
// converted.
int filter_contains(PyObject* self, PyObject* key) {
    return guarded_call(
        [&] {
            const filter_object& f = self_of<filter_object>(self);
            return static_cast<int>(f.body.may_contain(digest_of(key, f.hash)));
        },
        -1);
}

PyObject* filter_add(PyObject* self, PyObject* key) {
    return guarded_call(
        [&] {
            filter_object& f = self_of<filter_object>(self);
            const digest d = digest_of(key, f.hash);
            f.briefly([&] { f.body.insert(d); });
            Py_INCREF(Py_None);
            return Py_None;
        },
        nullptr);
}

constexpr std::size_t large_piece = 1 << 14;

void insert_columns(bloom_filter& into, const batch& keys, unsigned threads) {
    if (threads <= 1) {
        return keys.each_piece(1, large_piece, [&](const piece& some, const rows_of_piece&) {
            some.of_words ? into.insert(some.words) : into.insert(some.texts);
        });
    }
    parallel_build build(into);
    const hasher hash = into.hash();
    keys.each_piece(threads, piece_size, [&](const piece& some, const rows_of_piece&) {
        std::array<digest, piece_size> digests;
        const std::span made(digests.data(), some.size());
        some.of_words ? hash(some.words, made) : hash(some.texts, made);
        build.insert(made);
    });
}

// In a small array threads get in each other's way. In a large one they sort the keys by region first, which
// costs more than a second core brings (measured: 9.5 ns per key with two, 8.2 with one).
unsigned threads_to_insert(const bloom_filter& into, std::size_t rows, unsigned asked) {
    constexpr unsigned cores_that_pay = 4;
    const bool pays =
        into.geometry().bits > parallel_build::divided_bits && threads_for(rows, 0) >= cores_that_pay;
    return asked == 0 && !pays ? 1 : threads_for(rows, asked);
}

void update(filter_object& f, nb::handle source, bool skip_nulls, whole_32<"threads"> asked) {
    const unsigned threads = asked;
    const batch keys(source, skip_nulls);
    if (keys.in_columns()) {
        const unsigned used = threads_to_insert(f.body, *keys.size(), threads);
        return f.alone([&] { insert_columns(f.body, keys, used); });
    }
    const auto insert = [&](std::span<const digest> digests, const rows_of_piece&) {
        const std::lock_guard held(f.lock);
        f.body.insert(digests);
    };
    keys.each_digest(f.hash, insert);
}

// Rows that were left out keep their no.
void look_up(const bloom_filter& in, const piece& keys, const rows_of_piece& rows, std::span<bool> all) {
    if (!keys.some) {
        const auto places = all.subspan(rows.first, keys.size());
        keys.of_words ? in.may_contain(keys.words, places) : in.may_contain(keys.texts, places);
        return;
    }
    const auto found = std::make_unique<bool[]>(keys.size());
    const std::span places(found.get(), keys.size());
    keys.of_words ? in.may_contain(keys.words, places) : in.may_contain(keys.texts, places);
    for (std::size_t i = 0; i < keys.size(); ++i) all[rows[i]] = found[i];
}

nb::object contains(const filter_object& f, nb::handle source, bool skip_nulls, whole_32<"threads"> asked) {
    const unsigned threads = asked;
    const batch keys = counted_batch(source, skip_nulls);
    const answers<bool> found(*keys.size(), "bool");
    if (keys.in_columns()) {
        const unsigned used = threads_for(*keys.size(), threads);
        {
            const nb::gil_scoped_release released;
            keys.each_piece(used, large_piece, [&](const piece& some, const rows_of_piece& rows) {
                look_up(f.body, some, rows, found.all());
            });
        }
        return found.array(*keys.size());
    }
    const auto find = [&](std::span<const digest> digests, const rows_of_piece& rows) {
        std::array<bool, piece_size> some;
        f.body.may_contain(digests, std::span(some.data(), digests.size()));
        for (std::size_t i = 0; i < digests.size(); ++i) found.at(rows[i]) = some[i];
    };
    return found.array(keys.each_digest(f.hash, find));
}

PyMethodDef filter_methods[] = {
    {"add", filter_add, METH_O,
     "add($self, key, /)\n--\n\nInsert a key: a str, bytes or an int of 64 bits.\n\n"
     ">>> seen = posy.Filter(1000, 0.01)\n>>> seen.add(\"user7\")\n>>> \"user7\" in seen\nTrue\n"},
    {},
};
PyType_Slot filter_slots[] = {
    {Py_sq_contains, reinterpret_cast<void*>(filter_contains)},
    {Py_tp_methods, filter_methods},
    {0, nullptr},
};

constexpr auto filter_doc =
    R"(A Bloom filter: a set in a few bits per key. It never says no to a key that was inserted, and says yes to others at a chosen rate.

items: how many different keys it is for. rate: which share of other keys it may take for members.
layout: "blocked" (one cache miss per lookup), "paired", "spread" (the classic filter), "sliced" or "narrow".
hashes: the best for the layout unless given. hash: "fold64", "xxh3", "siphash" … seed: of the hash, an int.
secret: a random key for the hash, if somebody hostile chooses the keys.

>>> seen = posy.Filter(1_000_000, 0.001)
>>> seen.update(["anna", "bert"])
>>> "anna" in seen, "carl" in seen
(True, False)
)";

}  // namespace

void add_filter(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<filter_object> type(m, "Filter", nb::type_slots(filter_slots), nb::is_weak_referenceable(),
                                   filter_doc);
    type.def(
        "__init__",
        [](filter_object* self, whole<"items"> items, double rate, const std::string& layout,
           std::optional<whole_32<"hashes">> hashes, std::optional<std::string> hash, nb::object seed,
           bool secret) {
            new (self) filter_object(new_filter(items, rate, layout, number_if<unsigned>(hashes),
                                                {std::move(hash), std::move(seed), secret}));
        },
        "items"_a, "rate"_a = 0.01, nb::kw_only(), "layout"_a = "blocked", "hashes"_a = nb::none(),
        "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false);
    type.def(
        "update", update, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "threads"_a = 0,
        "Insert many keys: an array of NumPy's or Arrow's, a column of pandas or Polars, or any iterable.\n\n"
        "threads: 0 for as many as pay; keys that are Python objects are hashed by one.\n\n"
        ">>> seen = posy.Filter(1000, 0.01)\n>>> seen.update(range(1000))\n>>> 7 in seen\nTrue\n");
    type.def(
        "contains", contains, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "threads"_a = 0,
        "Look up many keys: an array of bools, one for each. With skip_nulls a null is not in the filter.\n\n"
        ">>> seen = posy.Filter(1000, 0.001)\n>>> seen.update([1, 2, 3])\n>>> seen.contains([3, 4])\n"
        "array([ True, False])\n");
    add_filter_whole(type);
}

}  // namespace posy::python
