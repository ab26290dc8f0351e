// posy.load and posy.from_bytes: any message as the object of its kind.
#include "messages.hpp"

#include <nanobind/stl/filesystem.h>

#include "files.hpp"

namespace posy::python {
namespace {

template <class Body>
nb::object python_object(Body body) {
    if constexpr (std::same_as<Body, bloom_filter>) {
        return nb::cast(std::make_unique<object<Body>>(std::move(body)));
    } else {
        throw exception(error::unsupported("a message of kind " + std::string(name_of(kind_of_body<Body>)) +
                                           " has no class in Python; the tool reads it"));
    }
}

nb::object python_object(any_body body) {
    return std::visit([](auto& one) { return python_object(std::move(one)); }, body);
}

template <class Read>
any_body read_unlocked(const Read& read) {
    const nb::gil_scoped_release released;
    return read();
}

}  // namespace

void add_messages(nb::module_& m) {
    using namespace nb::literals;
    m.def("_from_bytes", [](nb::handle source) {
        const held_bytes bytes(source);
        return python_object(read_unlocked([&] { return body_of_bytes(bytes.view()); }));
    });
    m.def("_load", [](const std::filesystem::path& path, bool mapped) {
        return python_object(read_unlocked([&] { return body_of_file(path, mapped); }));
    });
}

}  // namespace posy::python
