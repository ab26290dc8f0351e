// Numbers that carry their intervals, as posy/figures.py has them.
#pragma once

#include "call.hpp"
#include "posy/estimate.hpp"

namespace posy::python {

// A posy.Estimate or a posy.Comparison; null, with an error, if there is no memory for it.
PyObject* in_python(const estimate&) noexcept;
PyObject* in_python(const comparison&) noexcept;
// The level of an interval: an error unless it lies between 0 and 1.
void check_level(double);

}  // namespace posy::python

namespace nanobind::detail {

// They go to Python alone.
template <class Figure>
struct figure_caster {
    static handle from_cpp(const Figure& one, rv_policy, cleanup_list*) noexcept {
        return posy::python::in_python(one);
    }
};
template <>
struct type_caster<posy::estimate> : figure_caster<posy::estimate> {
    static constexpr auto Name = const_name("posy.figures.Estimate");
};
template <>
struct type_caster<posy::comparison> : figure_caster<posy::comparison> {
    static constexpr auto Name = const_name("posy.figures.Comparison");
};

}  // namespace nanobind::detail
