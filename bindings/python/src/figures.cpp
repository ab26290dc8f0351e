// posy.Estimate and posy.Comparison: numbers that carry their intervals.
#include "figures.hpp"

#include "posy/estimate.hpp"

namespace posy::python {
namespace {

nb::str written(const estimate& e) {
    return nb::str("Estimate({:.6g}, low={:.6g}, high={:.6g})").format(e.value, e.low, e.high);
}

}  // namespace

void check_level(double level) {
    if (!(level > 0 && level < 1))
        throw exception(error::invalid("the level of an interval lies between 0 and 1, e.g. 0.95"));
}

void add_figures(nb::module_& m) {
    nb::class_<estimate>(m, "Estimate",
                         "A value, and an interval that holds the truth with a stated probability, 95 % "
                         "unless asked otherwise.")
        .def_ro("value", &estimate::value, "The estimate itself.")
        .def_ro("low", &estimate::low, "The lower end of the interval.")
        .def_ro("high", &estimate::high, "Its upper end.")
        .def("__float__", [](const estimate& e) { return e.value; })
        .def("__int__", [](const estimate& e) { return nb::int_(nb::float_(e.value)); })
        .def("__contains__",
             [](const estimate& e, double truth) { return e.low <= truth && truth <= e.high; })
        .def("__repr__", written);
    nb::class_<comparison>(m, "Comparison", "Two sets compared by their filters; each figure is an Estimate.")
        .def_ro("a", &comparison::a, "The size of the first set.")
        .def_ro("b", &comparison::b, "The size of the second set.")
        .def_ro("intersection", &comparison::intersection, "The number of keys in both.")
        .def_ro("union", &comparison::united, "The number of keys in either.")
        .def_ro("jaccard", &comparison::jaccard, "intersection / union.")
        .def("__repr__", [](const comparison& c) {
            return nb::str(
                       "Comparison(a={:.6g}, b={:.6g}, intersection={:.6g}, union={:.6g}, jaccard={:.4g})")
                .format(c.a.value, c.b.value, c.intersection.value, c.united.value, c.jaccard.value);
        });
}

}  // namespace posy::python
