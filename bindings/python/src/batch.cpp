#include "batch.hpp"

#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "posy/base/machine.hpp"

namespace posy::python {
namespace {

// Is it of a class of this name, or of one that was derived from it? The package need not be imported.
bool is_a(PyObject* object, const char* package, const char* name) {
    const auto classes = nb::borrow<nb::tuple>(Py_TYPE(object)->tp_mro);
    for (const nb::handle one : classes) {
        if (std::strcmp(reinterpret_cast<PyTypeObject*>(one.ptr())->tp_name, name) != 0) continue;
        const nb::object module_name = nb::getattr(one, "__module__", nb::none());
        if (nb::isinstance<nb::str>(module_name) &&
            std::string_view(nb::cast<nb::str>(module_name).c_str()).starts_with(package))
            return true;
    }
    return false;
}

// Not equal to itself: NaN of every type of numbers, pandas.NaT, NumPy's NaT. Sequences compare their
// elements, and what cannot be compared is not missing, but no key.
bool is_unlike_itself(PyObject* key) {
    if (PySequence_Check(key)) return false;
    const nb::object differs = nb::steal(PyObject_RichCompare(key, key, Py_NE));
    const int answer = differs.is_valid() ? PyObject_IsTrue(differs.ptr()) : -1;
    if (answer >= 0) return answer != 0;
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        throw nb::python_error();
    PyErr_Clear();
    return false;
}

std::string dtype_of(const nb::object& source) {
    const nb::object type = source.attr("dtype");
    const auto text = nb::steal<nb::str>(PyObject_Str(type.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    return text.c_str();
}

// A column of pandas: what it is made of. One of NumPy's types is an array of NumPy's, with None and NaN as
// objects; the others become arrays of Arrow's. Categories with nulls become objects, because an array of
// NumPy's would make floating-point numbers of integers.
nb::object inside_pandas(const nb::object& source) {
    PyObject* const given = source.ptr();
    const bool is_array = is_a(given, "pandas", "Categorical");
    if (!is_array && !is_a(given, "pandas", "Series") && !is_a(given, "pandas", "Index")) return source;
    const std::string type = dtype_of(source);
    if (type == "category" && nb::cast<bool>(nb::bool_(source.attr("isna")().attr("any")())))
        return nb::module_::import_("numpy").attr("asarray")(source.attr("astype")("object"));
    if (is_array) return source.attr("to_numpy")();
    if (type.starts_with("period") || type.starts_with("interval"))
        raise(PyExc_TypeError, "a column of " + type + " has no keys; make text of it: astype(str)");
    const nb::object array = source.attr("array");
    if (nb::hasattr(array, "__arrow_array__")) return array.attr("__arrow_array__")();
    return source.attr("to_numpy")();
}

// Only of objects: tolist() makes numbers of dates.
bool is_array_of_objects(const nb::object& source) {
    if (!PyObject_CheckBuffer(source.ptr()) || !nb::hasattr(source, "dtype")) return false;
    return nb::cast<std::string_view>(source.attr("dtype").attr("char")) == "O";
}

// What looks like a column and would be read as something else.
void refuse_disguised(const nb::object& source) {
    PyObject* const given = source.ptr();
    const std::string_view type = Py_TYPE(given)->tp_name;
    if (is_a(given, "numpy", "MaskedArray"))
        raise(PyExc_TypeError,
              "an array with a mask; array.compressed() has the elements that are not masked");
    if (type.ends_with("Scalar") && type.starts_with("pyarrow"))
        raise(PyExc_TypeError,
              "a scalar of Arrow's is one key, and a batch is wanted; its as_py() is the key");
    if (is_a(given, "polars", "Series") && dtype_of(source) == "Object")
        raise(PyExc_TypeError, "a column of Python objects is not known to Arrow; give series.to_list()");
    if (is_a(given, "polars", "LazyFrame"))
        raise(PyExc_TypeError, "a lazy frame has no rows yet: collect() it, and choose one of its columns");
    if (is_array_of_objects(source) && nb::cast<int>(source.attr("ndim")) != 1)
        raise(PyExc_ValueError, "keys stand in one dimension; array.ravel() has one");
}

}  // namespace

bool is_missing(PyObject* key) {
    if (key == Py_None) return true;
    if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || PyBytes_CheckExact(key)) return false;
    if (PyFloat_Check(key)) return std::isnan(PyFloat_AS_DOUBLE(key));
    return is_a(key, "pandas", "NAType") || is_unlike_itself(key);
}

unsigned threads_for(std::size_t rows, unsigned asked) {
    constexpr std::size_t worth_a_thread = 1 << 18;
    if (asked != 0) return asked;
    return static_cast<unsigned>(std::clamp<std::size_t>(rows / worth_a_thread, 1, base::usable_cores()));
}

batch::batch(nb::handle source, bool skip_nulls) : source_(nb::borrow(source)), skip_nulls_(skip_nulls) {
    PyObject* const given = source.ptr();
    if (PyUnicode_Check(given) || PyBytes_Check(given) || PyByteArray_Check(given) ||
        PyMemoryView_Check(given))
        raise(PyExc_TypeError,
              std::string("a ") + Py_TYPE(given)->tp_name +
                  " is one key, and a batch is wanted: put it into a list, or use add() and `in`");
    if (PyList_CheckExact(given) || PyTuple_CheckExact(given)) {
        size_ = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(given));
        return;
    }
    refuse_disguised(source_);
    source_ = inside_pandas(source_);
    if (auto arrow = arrow_keys::of(source_.ptr()))
        arrow_.emplace(std::move(*arrow));
    else if (auto buffer = buffer_keys::of(source_.ptr()))
        buffer_.emplace(std::move(*buffer));
    if (in_columns()) {
        check_columns();
        return;
    }
    if (is_array_of_objects(source_)) source_ = source_.attr("tolist")();
    if (PyList_CheckExact(source_.ptr())) size_ = static_cast<std::size_t>(PyList_GET_SIZE(source_.ptr()));
    if (!PyIter_Check(source_.ptr()) && !Py_TYPE(source_.ptr())->tp_iter && !PySequence_Check(source_.ptr()))
        raise(PyExc_TypeError, std::string("a batch of keys is an array, a column or an iterable, not ") +
                                   Py_TYPE(given)->tp_name);
}

void batch::check_columns() {
    size_ = 0;
    for (const auto& part : *in_columns()) {
        check_nulls(*part, skip_nulls_, *size_);
        part->check_keys();
        *size_ += part->size();
    }
}

}  // namespace posy::python
