// Arrays of NumPy, array.array and whatever else has Python's buffer protocol: integers of any width and byte
// order, S and U strings, in one dimension at any stride.
#pragma once

#include <Python.h>

#include <optional>

#include "column.hpp"

namespace posy::python {

class buffer_keys {
  public:
    // Nothing if the object has no buffer, or one of objects. Types that are no keys are a TypeError.
    static std::optional<buffer_keys> of(PyObject*);
    buffer_keys(buffer_keys&&) noexcept;
    buffer_keys& operator=(buffer_keys&&) = delete;
    ~buffer_keys();  // needs the interpreter's lock

    const columns& parts() const { return parts_; }

  private:
    explicit buffer_keys(const Py_buffer& held) : held_(held) {}
    Py_buffer held_;
    columns parts_;
};

}  // namespace posy::python
