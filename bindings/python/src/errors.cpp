#include <cerrno>
#include <exception>

#include "call.hpp"

namespace posy::python {
namespace {

PyObject* error_type = nullptr;  // posy.Error; lives as long as the process

void set_attribute(PyObject* object, const char* name, PyObject* value) {
    if (value) PyObject_SetAttrString(object, name, value);
    Py_XDECREF(value);
}

PyObject* none() {
    Py_INCREF(Py_None);
    return Py_None;
}

// What was read or written, if that is known, else null.
void set_error(const error& why, const char* file = nullptr) noexcept {
    try {
        if ((why.kind == error_kind::input_output || why.kind == error_kind::busy) && why.system && file) {
            // OSError makes a FileNotFoundError of this, and so on.
            const nb::object name = nb::steal(PyUnicode_DecodeFSDefault(file));
            const nb::object made = nb::steal(
                PyObject_CallFunction(PyExc_OSError, "isO", *why.system, why.message.c_str(), name.ptr()));
            if (made.is_valid())
                PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
            return;
        }
        const std::string text = file ? file + (": " + why.text()) : why.text();
        if (why.kind == error_kind::input_output || why.kind == error_kind::busy) {
            PyErr_SetString(PyExc_OSError, text.c_str());
            return;
        }
        // What is wrong may be quoted from bytes of anybody's.
        const nb::object said =
            nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
        PyObject* const made = said.is_valid() ? PyObject_CallOneArg(error_type, said.ptr()) : nullptr;
        if (!made) return;
        const std::string_view kind = name_of(why.kind);
        set_attribute(made, "kind",
                      PyUnicode_FromStringAndSize(kind.data(), static_cast<Py_ssize_t>(kind.size())));
        set_attribute(made, "offset", why.offset ? PyLong_FromUnsignedLongLong(*why.offset) : none());
        PyErr_SetObject(error_type, made);
        Py_DECREF(made);
    } catch (...) {
        PyErr_NoMemory();
    }
}

}  // namespace

void set_current_error() noexcept {
    try {
        throw;
    } catch (nb::python_error& e) {
        e.restore();
    } catch (const file_exception& e) {
        set_error(e.why(), e.path().c_str());
    } catch (const exception& e) {
        set_error(e.why());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
}

void raise(PyObject* type, const std::string& text) {
    PyErr_SetString(type, text.c_str());
    throw nb::python_error();
}

void add_errors(nb::module_& m) {
    error_type =
        PyErr_NewExceptionWithDoc("posy.Error",
                                  "What is wrong, where, and what to do about it.\n\n`kind` is one word of: "
                                  "invalid, damaged, too large, mismatch, unsupported.\n"
                                  "`offset` is the byte of the input that the error is about, or None.",
                                  PyExc_ValueError, nullptr);
    if (!error_type) throw nb::python_error();
    m.attr("Error") = nb::borrow(error_type);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const exception&) {
            set_current_error();
        }
    });
}

}  // namespace posy::python
