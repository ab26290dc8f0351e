// An array of NumPy's that C++ fills: one element per key of a batch. NumPy is imported when the first is
// made.
#pragma once

#include <Python.h>

#include <cstddef>
#include <span>

#include "batch.hpp"
#include "call.hpp"

namespace posy::python {

// A batch whose number of keys is known: an iterator is made a list first.
batch counted_batch(nb::handle source, bool skip_nulls);

template <class Element>
class answers {
  public:
    answers(std::size_t size, const char* type);
    answers(const answers&) = delete;
    answers& operator=(const answers&) = delete;
    ~answers() { PyBuffer_Release(&memory_); }

    std::span<Element> all() const {
        return {static_cast<Element*>(memory_.buf), static_cast<std::size_t>(memory_.len) / sizeof(Element)};
    }
    // A list that grows meanwhile has more rows than there are answers.
    Element& at(std::size_t row) const {
        if (row >= all().size()) refuse_rows(row + 1);
        return all()[row];
    }
    // The array, when this many rows were read. Fewer were not all looked up, and would seem to be absent.
    const nb::object& array(std::size_t rows) const {
        if (rows != all().size()) refuse_rows(rows);
        return array_;
    }

  private:
    // Code of the keys, a handler of signals or another thread has changed the list.
    [[noreturn]] void refuse_rows(std::size_t rows) const;

    nb::object array_;
    Py_buffer memory_;
};

}  // namespace posy::python
