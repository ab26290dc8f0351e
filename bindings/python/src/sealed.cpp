// posy.SealedFilter and posy.Map: sets and maps that do not change, in as few bits as possible.
#include <bit>

#include "classes.hpp"
#include "files.hpp"
#include "keyed.hpp"
#include "posy/plan.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;
using sealed_object = object<sealed_filter>;
using map_object = object<bloomier_map>;

template <class Body>
void add_bytes(nb::class_<object<Body>>& type) {
    type.def_prop_ro(
        "items", [](const object<Body>& o) { return o.body.items(); }, "The number of different keys.");
    type.def_prop_ro(
        "rate", [](const object<Body>& o) { return o.body.false_positive_rate(); },
        "The share of other keys that are taken for members.");
    type.def_prop_ro(
        "nbytes", [](const object<Body>& o) { return o.body.bytes().size(); }, "Its size in bytes.");
    type.def("__sizeof__", [](const object<Body>& o) { return sizeof o + o.body.bytes().size(); });
}

double count_of(const batch& keys) { return keys.size() ? static_cast<double>(*keys.size()) : 0x1p40; }

sealed_filter seal(nb::handle source, double rate, bool skip_nulls, unsigned threads,
                   const hash_arguments& asked) {
    const batch keys(source, skip_nulls);
    const hasher hash = hasher_for(asked, fastest_hash(count_of(keys), rate));
    const std::vector<digest> digests = all_digests(keys, hash);
    const nb::gil_scoped_release released;
    return value_of(
        sealed_filter::make(hash, digests, {.rate = rate, .threads = threads_for(digests.size(), threads)}));
}

[[noreturn]] void refuse_value(PyObject* kind_of_error, std::size_t row) {
    raise(kind_of_error, "a value of a map is an int from 0 to 2**64 - 1" + at_index(row));
}

std::uint64_t value_word(PyObject* value, std::size_t row) {
    if (!PyIndex_Check(value) || PyBool_Check(value)) refuse_value(PyExc_TypeError, row);
    const nb::object number = nb::steal(PyNumber_Index(value));
    if (!number.is_valid()) throw nb::python_error();
    const unsigned long long word = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred()) {  // negative, or above 2^64
        PyErr_Clear();
        refuse_value(PyExc_OverflowError, row);
    }
    return word;
}

// Values as words: from a column or from objects.
std::vector<std::uint64_t> words_of(nb::handle source) {
    std::vector<std::uint64_t> all;
    const batch values(source, false);
    if (!values.in_columns()) {
        values.each_object([&](PyObject* value, std::size_t row) { all.push_back(value_word(value, row)); });
        return all;
    }
    const bool with_sign =
        std::ranges::any_of(*values.in_columns(), [](const auto& part) { return part->has_sign(); });
    values.each_key([&](auto value, std::size_t row) {
        if constexpr (std::same_as<decltype(value), std::uint64_t>) {
            if (with_sign && value >> 63 != 0) refuse_value(PyExc_OverflowError, row);
            all.push_back(value);
        } else {
            refuse_value(PyExc_TypeError, row);
        }
    });
    return all;
}

bloomier_map make_map(nb::handle source, nb::handle given_values, double rate,
                      std::optional<unsigned> value_bits, const hash_arguments& asked) {
    nb::object keys_source = nb::borrow(source), values_source = nb::borrow(given_values);
    if (given_values.is_none()) {
        if (!PyDict_Check(source.ptr()))
            raise(PyExc_TypeError, "a map is made of a dict, or of keys and as many values");
        keys_source = nb::list(nb::cast<nb::dict>(source).keys());
        values_source = nb::list(nb::cast<nb::dict>(source).values());
    }
    const batch keys(keys_source, false);
    // Two keys of one digest, with different values, would make a map impossible.
    const hasher hash = hasher_for(asked, hash_family::xxh3);
    const std::vector<digest> digests = all_digests(keys, hash);
    const std::vector<std::uint64_t> values = words_of(values_source);
    if (digests.size() != values.size())
        throw exception(error::invalid("there are " + std::to_string(digests.size()) + " keys and " +
                                       std::to_string(values.size()) +
                                       " values; a map needs one value for each key"));
    const std::uint64_t largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
    const auto bits =
        value_bits.value_or(static_cast<unsigned>(std::max(1, static_cast<int>(std::bit_width(largest)))));
    const nb::gil_scoped_release released;
    return value_of(
        bloomier_map::make(hash, digests, values,
                           {.value_bits = bits, .rate = rate, .threads = threads_for(digests.size(), 0)}));
}

nb::object get(const map_object& o, nb::handle key, const nb::object& otherwise) {
    const auto found = o.body.find(digest_of(key.ptr(), o.hash));
    return found ? nb::cast(*found) : otherwise;
}

// Two arrays: the values, 0 where there is none, and where there are.
nb::object lookup(const map_object& o, nb::handle source, bool skip_nulls) {
    const batch keys = counted_batch(source, skip_nulls);
    const answers<std::uint64_t> values(*keys.size(), "uint64");
    const answers<bool> found(*keys.size(), "bool");
    std::vector<std::optional<std::uint64_t>> some(piece_size);
    const auto find = [&](std::span<const digest> digests, const rows_of_piece& rows) {
        o.body.find(digests, std::span(some.data(), digests.size()));
        for (std::size_t i = 0; i < digests.size(); ++i) {
            found.at(rows[i]) = some[i].has_value();
            values.at(rows[i]) = some[i].value_or(0);
        }
    };
    const std::size_t rows = keys.each_digest(o.hash, find);
    return nb::make_tuple(values.array(rows), found.array(rows));
}

void add_sealed_filter(nb::module_& m) {
    nb::class_<sealed_object> type(
        m, "SealedFilter",
        "A set that does not change, within half a percent of the fewest bits possible; a Bloom filter takes "
        "44 % more.\n\n>>> words = posy.SealedFilter([\"apple\", \"pear\"], 0.001)\n"
        ">>> \"pear\" in words, words.items\n(True, 2)\n");
    type.def(
        "__init__",
        [](sealed_object* self, nb::handle keys, double rate, bool skip_nulls, whole_32<"threads"> threads,
           std::optional<std::string> hash, nb::object seed, bool secret) {
            new (self) sealed_object(
                seal(keys, rate, skip_nulls, threads, {std::move(hash), std::move(seed), secret}));
        },
        "keys"_a.none(), "rate"_a = 0.01, nb::kw_only(), "skip_nulls"_a = false, "threads"_a = 0,
        "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false);
    type.def("__repr__", [](const sealed_object& o) {
        return nb::str("<posy.SealedFilter: {} items in {} bytes>")
            .format(o.body.items(), o.body.bytes().size());
    });
    add_bytes(type);
    add_lookup(type);
    add_files(type);
}

void add_map(nb::module_& m) {
    nb::class_<map_object> type(
        m, "Map",
        "A map from keys to ints of 0 to 2**64 - 1 that does not store its keys (a Bloomier map). A key of "
        "the map gets its "
        "value; "
        "another one gets none, except for a share `rate`, which gets an arbitrary one.\n\n"
        ">>> ages = posy.Map({\"anna\": 41, \"bert\": 7}, rate=1e-6)\n>>> ages[\"anna\"], "
        "ages.get(\"carl\")\n(41, None)\n");
    type.def(
        "__init__",
        [](map_object* self, nb::handle keys, nb::handle values, double rate,
           std::optional<whole_32<"value_bits">> value_bits, std::optional<std::string> hash, nb::object seed,
           bool secret) {
            new (self) map_object(make_map(keys, values, rate, number_if<unsigned>(value_bits),
                                           {std::move(hash), std::move(seed), secret}));
        },
        "keys"_a.none(), "values"_a = nb::none(), nb::kw_only(), "rate"_a = 0.01, "value_bits"_a = nb::none(),
        "hash"_a = nb::none(), "seed"_a = nb::none(), "secret"_a = false);
    type.def("__getitem__", [](const map_object& o, nb::handle key) {
        const auto found = o.body.find(digest_of(key.ptr(), o.hash));
        if (found) return *found;
        PyErr_SetObject(PyExc_KeyError, key.ptr());
        throw nb::python_error();
    });
    type.def("get", get, "key"_a.none(), "default"_a = nb::none(), "The value of a key, or `default`.");
    type.def("__contains__", [](const map_object& o, nb::handle key) {
        return o.body.find(digest_of(key.ptr(), o.hash)).has_value();
    });
    type.def("lookup", lookup, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
             "Many keys: an array of their values, 0 where there is none, and an array of bools that says "
             "where there are.");
    type.def_prop_ro(
        "value_bits", [](const map_object& o) { return o.body.value_bits(); }, "The width of a value.");
    type.def("__repr__", [](const map_object& o) {
        return nb::str("<posy.Map: {} items in {} bytes>").format(o.body.items(), o.body.bytes().size());
    });
    add_bytes(type);
    add_hash(type);
    add_files(type);
}

}  // namespace

void add_sealed(nb::module_& m) {
    add_sealed_filter(m);
    add_map(m);
}

}  // namespace posy::python
