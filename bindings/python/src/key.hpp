// One key of Python's: str as UTF-8, bytes and what is like them as they are, an integer as eight bytes
// (posy/key.hpp).
//
// These are the keys of C++ and of the tool: a str is a line, an int one of `posy build --integers`. A float,
// None, a bool and anything else is a TypeError that says where it stands.
#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "call.hpp"
#include "posy/bytes.hpp"
#include "posy/digest.hpp"

namespace posy::python {

// The place of a key in a batch, for an error; none for a key alone.
using place = std::optional<std::size_t>;
[[noreturn]] void refuse_key(PyObject* key, place at);
std::string at_index(place at);
// What is wrong with a text that has no UTF-8.
std::string no_utf8(place at);

// The UTF-8 of a str, which keeps it.
inline std::string_view text_of(PyObject* text, place at) {
    if (PyUnicode_IS_COMPACT_ASCII(text)) [[likely]]
        return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text)),
                static_cast<std::size_t>(PyUnicode_GET_LENGTH(text))};
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (!bytes) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
        PyErr_Clear();
        raise(PyExc_ValueError, no_utf8(at));
    }
    return {bytes, static_cast<std::size_t>(size)};
}

// The word of an int. OverflowError if it has more than 64 bits.
std::uint64_t word_of(PyObject* number, place at);

// What is neither an exact str, int nor bytes: subclasses, numpy's numbers, buffers.
template <class Use>
auto with_rare_key(PyObject* key, place at, const Use& use);

// Calls use(key) with a std::string_view or a std::uint64_t. The text lives during the call.
template <class Use>
auto with_key(PyObject* key, place at, const Use& use) {
    if (PyUnicode_CheckExact(key)) [[likely]]
        return use(text_of(key, at));
    if (PyLong_CheckExact(key)) return use(word_of(key, at));
    if (PyBytes_CheckExact(key))
        return use(std::string_view(PyBytes_AS_STRING(key), static_cast<std::size_t>(PyBytes_GET_SIZE(key))));
    return with_rare_key(key, at, use);
}

template <class Use>
auto with_rare_key(PyObject* key, place at, const Use& use) {
    if (PyUnicode_Check(key)) return use(text_of(key, at));
    if (PyBytes_Check(key))
        return use(std::string_view(PyBytes_AS_STRING(key), static_cast<std::size_t>(PyBytes_GET_SIZE(key))));
    if (PyByteArray_Check(key) || PyMemoryView_Check(key)) {
        Py_buffer bytes;
        if (PyObject_GetBuffer(key, &bytes, PyBUF_SIMPLE) != 0) throw nb::python_error();
        struct guard {
            Py_buffer& held;
            ~guard() { PyBuffer_Release(&held); }
        } const held{bytes};
        return use(
            std::string_view(static_cast<const char*>(bytes.buf), static_cast<std::size_t>(bytes.len)));
    }
    if (PyBool_Check(key) || PyFloat_Check(key) || !PyIndex_Check(key)) refuse_key(key, at);
    PyObject* const number = PyNumber_Index(key);
    if (!number) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
        PyErr_Clear();
        refuse_key(key, at);
    }
    const nb::object held = nb::steal(number);
    return use(word_of(number, at));
}

inline digest digest_of(PyObject* key, const hasher& hash, place at = {}) {
    return with_key(key, at, [&](auto bytes) { return hash(bytes); });
}

}  // namespace posy::python
