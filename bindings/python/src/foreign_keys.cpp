#include "foreign_keys.hpp"

#include <array>
#include <charconv>

#include "answers.hpp"
#include "posy/key.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

void insert_foreign(foreign_object& o, std::string_view key) {
    o.briefly([&] { check_done(o.body->insert(as_byte_view(key))); });
}
void insert_foreign(foreign_object& o, std::uint64_t key) {
    o.briefly([&] { check_done(o.body->insert(key_bytes(key))); });
}

void check_kind_of(const foreign_object& o, bool integers, place at) {
    if (const auto fits = o.body->check_kind(integers); !fits)
        raise(PyExc_TypeError, fits.error().message + at_index(at));
}
bool foreign_has(const foreign_object& o, std::string_view key, place at) {
    check_kind_of(o, false, at);
    return o.briefly([&] { return o.body->may_contain(as_byte_view(key)); });
}
bool foreign_has(const foreign_object& o, std::uint64_t key, place at) {
    check_kind_of(o, true, at);
    return o.briefly([&] { return o.body->may_contain_integer(key); });
}

bool has_numbers(const foreign_object& o) { return o.body->keys() == key_kind::numbers; }

// An int, a float, a number of NumPy's, a Decimal, or the text of one.
bool has_number(const foreign_object& o, PyObject* key, place at) {
    const std::string_view type = Py_TYPE(key)->tp_name;
    if (key == Py_None || PyBool_Check(key) || type == "numpy.bool" || type == "numpy.bool_")
        refuse_key(key, at);
    const nb::object number = nb::steal(PyNumber_Float(key));
    if (!number.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            throw nb::python_error();
        PyErr_Clear();
        raise(PyExc_TypeError, std::string("the column has numbers, and the key, of type ") +
                                   Py_TYPE(key)->tp_name + ", is none" + at_index(at));
    }
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), PyFloat_AS_DOUBLE(number.ptr())).ptr;
    return o.briefly([&] { return o.body->may_contain(as_byte_view(std::string_view(text.data(), end))); });
}

// The elements as objects. Dates are refused: NumPy would make numbers of them.
nb::object numbers_listed(nb::handle source) {
    const nb::object type = nb::getattr(source, "dtype", nb::none());
    const nb::object kind = nb::getattr(type, "kind", nb::none());
    if (kind.equal(nb::str("M")) || kind.equal(nb::str("m")))
        raise(PyExc_TypeError, "the column has numbers, and the keys are dates or times");
    nb::object elements = nb::borrow(source);
    for (const char* const name : {"tolist", "to_pylist", "to_list"}) {
        if (!nb::hasattr(source, name)) continue;
        elements = source.attr(name)();
        break;
    }
    const nb::object list = nb::steal(PySequence_List(elements.ptr()));
    if (!list.is_valid()) throw nb::python_error();
    return list;
}

nb::object look_up_numbers(const foreign_object& o, nb::handle source, bool skip_nulls) {
    if (PyUnicode_Check(source.ptr()) || PyObject_CheckBuffer(source.ptr()) != 0)
        if (!nb::hasattr(source, "tolist") || PyMemoryView_Check(source.ptr()))
            batch(source, skip_nulls);  // which says that it is one key
    const nb::object list = numbers_listed(source);
    // As elsewhere: NaN is a number in an array of floats, and missing among objects and in pandas.
    const bool array = nb::hasattr(source, "dtype") || nb::hasattr(source, "to_pylist");
    const bool missing_nan = !array || nb::hasattr(source, "isna");
    const auto size = static_cast<std::size_t>(PyList_GET_SIZE(list.ptr()));
    const answers<bool> found(size, "bool");
    for (std::size_t row = 0; row < size; ++row) {
        PyObject* const key = PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(row));
        const bool missing = is_missing(key) && (missing_nan || !PyFloat_Check(key));
        if (!skip_nulls || !missing) found.at(row) = has_number(o, key, row);
    }
    return found.array(size);
}

nb::object look_up_foreign(const foreign_object& o, nb::handle source, bool skip_nulls) {
    if (has_numbers(o)) return look_up_numbers(o, source, skip_nulls);
    const batch keys = counted_batch(source, skip_nulls);
    const answers<bool> found(*keys.size(), "bool");
    const std::size_t rows =
        keys.each_key([&](auto key, std::size_t row) { found.at(row) = foreign_has(o, key, row); });
    return found.array(rows);
}

}  // namespace

void add_foreign_keys(nb::class_<foreign_object>& type) {
    type.def(
        "add",
        [](foreign_object& o, nb::handle key) {
            with_key(key.ptr(), {}, [&](auto bytes) { insert_foreign(o, bytes); });
        },
        "key"_a.none(), "Insert a key; an int is a long of Java's.");
    type.def(
        "update",
        [](foreign_object& o, nb::handle keys, bool skip_nulls) {
            batch(keys, skip_nulls).each_key([&](auto key, std::size_t) { insert_foreign(o, key); });
        },
        "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false, "Insert many keys.");
    type.def("__contains__", [](const foreign_object& o, nb::handle key) {
        if (has_numbers(o)) return has_number(o, key.ptr(), {});
        return with_key(key.ptr(), {}, [&](auto bytes) { return foreign_has(o, bytes, {}); });
    });
    type.def(
        "contains", look_up_foreign, "keys"_a.none(), nb::kw_only(), "skip_nulls"_a = false,
        "Look up many keys: an array of bools. A key that a column of a Parquet file cannot have, text where "
        "it has integers, is a TypeError; in a column of FLOAT or DOUBLE keys are numbers, ints, too.");
}

}  // namespace posy::python
