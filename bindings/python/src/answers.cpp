#include "answers.hpp"

#include <cstdint>
#include <cstring>

namespace posy::python {

batch counted_batch(nb::handle source, bool skip_nulls) {
    batch keys(source, skip_nulls);
    if (keys.size()) return keys;
    const nb::object list = nb::steal(PySequence_List(source.ptr()));
    if (!list.is_valid()) throw nb::python_error();
    return batch(list, skip_nulls);
}

template <class Element>
answers<Element>::answers(std::size_t size, const char* type)
    : array_(nb::module_::import_("numpy").attr("zeros")(size, type)) {
    if (PyObject_GetBuffer(array_.ptr(), &memory_, PyBUF_WRITABLE) != 0) throw nb::python_error();
}

template <class Element>
void answers<Element>::refuse_rows(std::size_t rows) const {
    const std::size_t before = all().size();
    throw exception(error::invalid("the list " + std::string(rows > before ? "grew" : "shrank") +
                                   " while it was read (it had " + std::to_string(before) +
                                   " keys); look up a copy of it"));
}

template class answers<bool>;
template class answers<std::uint64_t>;

}  // namespace posy::python
