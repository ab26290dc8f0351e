#include "whole.hpp"

#include <string>

namespace posy::python {
namespace {

std::string as_text(PyObject* number) {
    const nb::object text = nb::steal(PyObject_Str(number));
    if (!text.is_valid()) {  // an int of more digits than Python writes
        PyErr_Clear();
        return "an int of many digits";
    }
    return nb::borrow<nb::str>(text).c_str();
}

std::string largest(std::uint64_t most) {
    if (most == std::numeric_limits<std::uint64_t>::max()) return "2**64 - 1";
    return most == std::numeric_limits<std::uint32_t>::max() ? "2**32 - 1" : std::to_string(most);
}

}  // namespace

std::uint64_t whole_number(PyObject* given, const char* name, std::uint64_t most) {
    const std::string wanted = "an int from 0 to " + largest(most);
    if (!PyIndex_Check(given))
        raise(PyExc_TypeError, std::string(name) + " is " + wanted + ", not " + Py_TYPE(given)->tp_name);
    const nb::object number = nb::steal(PyNumber_Index(given));
    if (!number.is_valid()) throw nb::python_error();
    const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
    if (!PyErr_Occurred() && value <= most) return value;
    PyErr_Clear();
    throw exception(
        error::invalid(std::string(name) + " is " + as_text(number.ptr()) + "; it must be " + wanted));
}

}  // namespace posy::python
