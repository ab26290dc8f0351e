// What the classes besides Filter have in common: they see digests, one key or a batch at a time.
//
// Every call holds the object's mutex, because these bodies move memory when they change. Cost: a call
// through nanobind, 50 ns per key; batches have none of it.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "answers.hpp"
#include "batch.hpp"
#include "files.hpp"
#include "names.hpp"

namespace posy::python {

// A digest, and room for the answers of a piece.
template <class Body>
nb::object look_up_batch(const object<Body>& o, nb::handle source, bool skip_nulls) {
    const batch keys = counted_batch(source, skip_nulls);
    const answers<bool> found(*keys.size(), "bool");
    const auto find = [&](std::span<const digest> digests, const rows_of_piece& rows) {
        std::array<bool, piece_size> some;
        {
            const std::lock_guard held(o.lock);
            o.body.may_contain(digests, std::span(some.data(), digests.size()));
        }
        for (std::size_t i = 0; i < digests.size(); ++i) found.at(rows[i]) = some[i];
    };
    return found.array(keys.each_digest(o.hash, find));
}

// Calls use(std::span<const digest>) for all keys of a batch, with the object's mutex and without the
// interpreter's lock.
template <class Body, class Use>
void take_batch(const object<Body>& o, nb::handle source, bool skip_nulls, const Use& use) {
    const batch keys(source, skip_nulls);
    keys.each_digest(o.hash, [&](std::span<const digest> digests, const rows_of_piece&) {
        const std::lock_guard held(o.lock);
        use(digests);
    });
}

// All digests of a batch, for what is built from a whole set.
inline std::vector<digest> all_digests(const batch& keys, const hasher& hash) {
    std::vector<digest> all;
    all.reserve(keys.size().value_or(0));
    keys.each_digest(hash, [&](std::span<const digest> some, const rows_of_piece&) {
        all.insert(all.end(), some.begin(), some.end());
    });
    return all;
}

template <class Body>
void add_hash(nb::class_<object<Body>>& type) {
    type.def_prop_ro(
        "hash", [](const object<Body>& o) { return str_of(name_of(o.hash.family())); },
        "The family of its hash.");
    type.def_prop_ro(
        "seed", [](const object<Body>& o) { return seed_of(o.hash); }, nb::sig("def seed(self) -> int"),
        "The seed of its hash.");
}

// `in` and contains().
template <class Body>
void add_lookup(nb::class_<object<Body>>& type) {
    using namespace nb::literals;
    type.def("__contains__", [](const object<Body>& o, nb::handle key) {
        const digest d = digest_of(key.ptr(), o.hash);
        return o.briefly([&] { return o.body.may_contain(d); });
    });
    type.def("contains", look_up_batch<Body>, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
             "Look up many keys: an array of bools, one for each. With skip_nulls a null is not in it.");
    add_hash(type);
}

// By way of its message: not every body has a copy.
template <class Body>
std::unique_ptr<object<Body>> copy_of(const object<Body>& o) {
    const auto bytes = o.alone([&] { return to_bytes(o.body); });
    const nb::gil_scoped_release released;
    return object_of<Body>(body_of_bytes(bytes, read_limits::exactly(~std::uint64_t{0})));
}

// into := into ∪ from, and a ∪ b, by the operators that are given: |= and |, or += and +.
template <class Body>
void add_union(nb::class_<object<Body>>& type, const char* in_place, const char* both) {
    type.def(
        both,
        [](const object<Body>& a, const object<Body>& b) {
            auto made = copy_of(a);
            made->alone_with(b, [&] { check_done(unite(made->body, b.body)); });
            return made;
        },
        nb::is_operator());
    type.def(
        in_place,
        [](nb::handle_t<object<Body>> self, const object<Body>& other) {
            auto& into = self_of<object<Body>>(self.ptr());
            into.alone_with(other, [&] { check_done(unite(into.body, other.body)); });
            return nb::borrow(self);
        },
        nb::is_operator());
}

}  // namespace posy::python
