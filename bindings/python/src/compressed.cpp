// posy.CompressedFilter: a filter in a small form that is asked without unpacking.
#include "classes.hpp"
#include "files.hpp"
#include "filter.hpp"
#include "keyed.hpp"

namespace posy::python {

void add_compressed(nb::module_& m) {
    using namespace nb::literals;
    using self = object<compressed_filter>;
    nb::class_<self> type(m, "CompressedFilter",
                          "A Filter in a small form that is asked without unpacking it.\n\n"
                          ">>> seen = posy.Filter(1000, 0.01)\n>>> seen.add(\"anna\")\n>>> \"anna\" in "
                          "posy.CompressedFilter(seen)\nTrue\n");
    type.def(
        "__init__",
        [](self* at, const filter_object& f, std::string_view form) {
            const auto how = member_named<queryable_form>("form", form);
            new (at) self(f.alone([&] { return value_of(compressed_filter::make(f.body, how)); }));
        },
        "filter"_a, "form"_a = name_of(members<queryable_form>.front()));
    type.def_prop_ro(
        "form", [](const self& o) { return str_of(name_of(o.body.form())); }, "How it is coded.");
    type.def_prop_ro(
        "nbytes", [](const self& o) { return o.body.bytes().size(); }, "Its size in bytes.");
    type.def_prop_ro(
        "rate", [](const self& o) { return o.alone([&] { return value_of(o.body.false_positive_rate()); }); },
        "The share of other keys that are taken for members.");
    type.def(
        "unpack",
        [](const self& o) {
            return std::make_unique<filter_object>(o.alone([&] { return value_of(o.body.unpack()); }));
        },
        "The Filter again.");
    type.def("__repr__", [](const self& o) {
        return nb::str("<posy.CompressedFilter: {}, {} bytes>")
            .format(str_of(name_of(o.body.form())), o.body.bytes().size());
    });
    add_lookup(type);
    add_files(type);
}

}  // namespace posy::python
