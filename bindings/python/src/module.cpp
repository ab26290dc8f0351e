// posy._core: what `import posy` is made of. One file per class or pair of classes.
#include "call.hpp"
#include "calls.hpp"
#include "classes.hpp"
#include "filter.hpp"
#include "messages.hpp"

NB_MODULE(_core, m) {
    using namespace posy::python;
    m.doc() = "Bloom filters built to travel; import posy.";
    // Filters at the end of the process are no leaks.
    nanobind::set_leak_warnings(false);
    m.attr("__version__") = POSY_VERSION;
    add_errors(m);
    add_filter(m);
    add_counting(m);
    add_sealed(m);
    add_compressed(m);
    add_sketches(m);
    add_growing(m);
    add_window(m);
    add_deltas(m);
    add_reconciliation(m);
    add_foreign(m);
    add_plan(m);
    add_theory(m);
    add_messages(m);
    add_explanations(m);
}
