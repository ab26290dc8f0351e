#include "figures.hpp"

#include "posy/estimate.hpp"

namespace posy::python {
namespace {

nb::object figures() { return nb::module_::import_("posy.figures"); }

}  // namespace

void check_level(double level) {
    if (!(level > 0 && level < 1))
        throw exception(error::invalid("the level of an interval lies between 0 and 1, e.g. 0.95"));
}

PyObject* in_python(const estimate& e) noexcept {
    return guarded_call([&] { return figures().attr("Estimate")(e.value, e.low, e.high).release().ptr(); },
                        nullptr);
}

PyObject* in_python(const comparison& c) noexcept {
    return guarded_call(
        [&] {
            return figures()
                .attr("Comparison")(c.a, c.b, c.intersection, c.united, c.jaccard)
                .release()
                .ptr();
        },
        nullptr);
}

}  // namespace posy::python
