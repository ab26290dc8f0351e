// What is said where arguments fit no function: posy/calls.py has the words.
//
// nanobind says it at the end of each of its ways to call a function, of which there are few. Each has a
// wrapper here, which stands in its place in every function of the module. Cost: 1 ns per call.
#include "calls.hpp"

#include <array>
#include <string_view>

namespace posy::python {
namespace {

constexpr std::size_t most_ways = 12;
std::array<vectorcallfunc, most_ways> ways{};  // nanobind's

// nanobind has flags of its own in the number of arguments.
std::size_t number_of(std::size_t flagged) { return flagged & 0xffff'ffff; }

bool is_about_arguments(const nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) return false;
    const nb::object text = nb::steal(PyObject_Str(e.value().ptr()));
    Py_ssize_t size = 0;
    const char* const said = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (!said) {  // not nanobind's: it has no UTF-8, or no text at all
        PyErr_Clear();
        return false;
    }
    return std::string_view(said, static_cast<std::size_t>(size))
               .find("(): incompatible function arguments.") != std::string_view::npos;
}

void explain(PyObject* function, PyObject* const* given, std::size_t size, PyObject* names) noexcept {
    nb::python_error e;
    try {
        if (is_about_arguments(e)) {
            nb::list arguments;
            for (std::size_t i = 0; i < size; ++i) arguments.append(nb::borrow(given[i]));
            nb::dict named;
            for (std::size_t i = 0; names && i < static_cast<std::size_t>(PyTuple_GET_SIZE(names)); ++i)
                named[nb::borrow(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i)))] =
                    nb::borrow(given[size + i]);
            const nb::object said =
                nb::module_::import_("posy.calls").attr("explain")(nb::borrow(function), arguments, named);
            if (!said.is_none()) return PyErr_SetObject(PyExc_TypeError, said.ptr());
        }
    } catch (...) {  // then nanobind's words stay
        PyErr_Clear();
    }
    e.restore();
}

template <std::size_t Way>
PyObject* call(PyObject* function, PyObject* const* given, std::size_t flagged, PyObject* names) {
    PyObject* const made = ways[Way](function, given, flagged, names);
    if (!made && PyErr_ExceptionMatches(PyExc_TypeError)) explain(function, given, number_of(flagged), names);
    return made;
}

template <std::size_t... Way>
constexpr std::array<vectorcallfunc, sizeof...(Way)> wrappers(std::index_sequence<Way...>) {
    return {call<Way>...};
}

void wrap(nb::handle function) {
    static constexpr auto ours = wrappers(std::make_index_sequence<most_ways>());
    const Py_ssize_t offset = Py_TYPE(function.ptr())->tp_vectorcall_offset;
    auto& way = *reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function.ptr()) + offset);
    for (std::size_t i = 0; i < most_ways; ++i) {
        if (!ways[i]) ways[i] = way;
        if (ways[i] != way) continue;
        way = ours[i];
        return;
    }
}

}  // namespace

void add_explanations(nb::handle owner) {
    for (const auto [name, member] : nb::cast<nb::dict>(owner.attr("__dict__").attr("copy")())) {
        const std::string_view type = Py_TYPE(member.ptr())->tp_name;
        if (type.ends_with("nb_func") || type.ends_with("nb_method"))
            wrap(member);
        else if (PyType_Check(member.ptr()) || PyModule_Check(member.ptr()))
            add_explanations(member);
    }
}

}  // namespace posy::python
