// Arrays in Arrow's memory layout, taken over by the Arrow C data interface
// (https://arrow.apache.org/docs/format/CDataInterface.html): pyarrow, Polars, pandas, DuckDB, nanoarrow …
// hand out pointers, and nothing is copied.
//
// Keys are strings, binaries and integers of all widths, and dictionaries of these. The producer is trusted
// with its pointers, as the interface demands; what it says of types is checked.
#pragma once

#include <Python.h>

#include <optional>

#include "column.hpp"

namespace posy::python {

// The arrays behind an object that has __arrow_c_array__ or __arrow_c_stream__, and their columns, which live
// as long as this.
class arrow_keys {
  public:
    // Nothing if the object has neither.
    static std::optional<arrow_keys> of(PyObject*);
    arrow_keys(arrow_keys&&) noexcept;
    arrow_keys& operator=(arrow_keys&&) = delete;
    ~arrow_keys();  // needs the interpreter's lock

    const columns& parts() const;

  private:
    struct held;
    explicit arrow_keys(std::unique_ptr<held>);
    std::unique_ptr<held> held_;
};

}  // namespace posy::python
