// An argument that is an int from 0 on, with its name: whatever else is given is an error of ours, which says
// what is wrong with which argument. (nanobind would list the types of all of them.)
//
//   [](filter_object* self, whole<"items"> items, …) { const std::uint64_t n = items; … }
//
// It is checked where it becomes a number, which the function does with the interpreter's lock, first of all.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>

#include "call.hpp"

namespace posy::python {

// A name as an argument of a template.
template <std::size_t Size>
struct literal {
    constexpr literal(const char (&from)[Size]) { std::copy_n(from, Size, text); }
    char text[Size];
};

// A TypeError if it is no int, a posy.Error if it is none from 0 to `most`.
std::uint64_t whole_number(PyObject* given, const char* name, std::uint64_t most);

template <literal Name, std::uint64_t Most = std::numeric_limits<std::uint64_t>::max()>
struct whole {
    PyObject* given = nullptr;  // lives during the call

    template <std::unsigned_integral Number>
    operator Number() const {
        static_assert(Most <= std::numeric_limits<Number>::max());
        return static_cast<Number>(whole_number(given, Name.text, Most));
    }
};
template <literal Name>
using whole_32 = whole<Name, std::numeric_limits<std::uint32_t>::max()>;

template <std::unsigned_integral Number>
std::optional<Number> number_if(const auto& given) {
    return given ? std::optional<Number>(static_cast<Number>(*given)) : std::nullopt;
}

}  // namespace posy::python

namespace nanobind::detail {

template <posy::python::literal Label, std::uint64_t Most>
struct type_caster<posy::python::whole<Label, Most>> {
    using number = posy::python::whole<Label, Most>;
    NB_TYPE_CASTER(number, const_name("int"))

    bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
        value.given = source.ptr();
        return true;
    }
};

}  // namespace nanobind::detail
