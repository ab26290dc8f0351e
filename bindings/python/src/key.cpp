#include "key.hpp"

#include <string>

namespace posy::python {

std::string at_index(place at) { return at ? " (at index " + std::to_string(*at) + ")" : std::string(); }

std::string no_utf8(place at) {
    return "a str with a lone surrogate has no UTF-8, so it is no key" + at_index(at) +
           "; give bytes: text.encode(\"utf-8\", \"surrogatepass\"), or os.fsencode() of a file's name";
}

void refuse_key(PyObject* key, place at) {
    const std::string type = Py_TYPE(key)->tp_name;
    std::string hint;
    if (key == Py_None)
        hint = "; leave missing values out, or give skip_nulls=True with a batch";
    else if (PyFloat_Check(key))
        hint = "; equal numbers can have different bytes: round it to an int, or write it as text";
    else if (PyBool_Check(key))
        hint = "; write int(key) if 0 or 1 is meant";
    else if (PyTuple_Check(key) || PyList_Check(key))
        hint = "; for many keys there are update() and contains()";
    raise(PyExc_TypeError, "a key is a str, bytes or an int, not " + type + at_index(at) + hint);
}

std::uint64_t word_of(PyObject* number, place at) {
    int beyond = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &beyond);
    if (beyond == 0) {
        if (value == -1 && PyErr_Occurred()) throw nb::python_error();
        return static_cast<std::uint64_t>(value);
    }
    if (beyond > 0) {
        const unsigned long long large = PyLong_AsUnsignedLongLong(number);
        if (!PyErr_Occurred()) return large;
        PyErr_Clear();
    }
    raise(PyExc_OverflowError, "an int as a key has 64 bits: from -2**63 to 2**64 - 1" + at_index(at) +
                                   "; write a larger one as text");
}

}  // namespace posy::python
