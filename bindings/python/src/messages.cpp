// posy.load and posy.from_bytes: any message as the object of its kind.
#include "messages.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>

#include "deltas.hpp"
#include "files.hpp"
#include "foreign.hpp"

namespace posy::python {
namespace {

template <class Body>
nb::object python_object(Body body) {
    if constexpr (std::same_as<Body, filter_delta>) {
        return nb::cast(delta_object{std::move(body)});
    } else if constexpr (!std::same_as<Body, spectral_filter> && !std::same_as<Body, reconcile::envelope>) {
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

read_limits limits_of(std::optional<std::uint64_t> max_bytes) {
    return max_bytes ? read_limits::exactly(*max_bytes) : read_limits();
}

bool is_foreign(byte_view bytes) { return !is_message(bytes) && foreign_filter::recognise(bytes); }

// The bytes of a file, if it is a filter of another program.
std::optional<std::vector<std::byte>> foreign_bytes(const std::filesystem::path& path) {
    if (is_message(first_bytes(path))) return std::nullopt;
    auto bytes = whole_file(path);
    return is_foreign(bytes) ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace

void add_messages(nb::module_& m) {
    using namespace nb::literals;
    m.def("_from_bytes", [](nb::handle source, std::optional<std::uint64_t> max_bytes) {
        const held_bytes bytes(source);
        const auto limits = limits_of(max_bytes);
        if (is_foreign(bytes.view())) return nb::cast(foreign_of_bytes(bytes.view()));
        return python_object(read_unlocked([&] { return body_of_bytes(bytes.view(), limits); }));
    });
    m.def("_load",
          [](const std::filesystem::path& path, bool mapped, std::optional<std::uint64_t> max_bytes) {
              const auto limits = limits_of(max_bytes);
              if (const auto bytes = foreign_bytes(path)) return nb::cast(foreign_of_bytes(*bytes));
              return python_object(read_unlocked([&] { return body_of_file(path, mapped, limits); }));
          });
}

}  // namespace posy::python
