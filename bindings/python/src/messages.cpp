// posy.load and posy.from_bytes: any message as the object of its kind.
#include "messages.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>

#include "deltas.hpp"
#include "files.hpp"
#include "foreign.hpp"
#include "whole.hpp"

namespace posy::python {
namespace {

template <class Body>
nb::object python_object(Body body) {
    if constexpr (!std::same_as<Body, spectral_filter> && !std::same_as<Body, reconcile::envelope>) {
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
auto read_unlocked(const Read& read) {
    const nb::gil_scoped_release released;
    return read();
}

bool is_foreign(byte_view bytes) { return !is_message(bytes) && foreign_filter::recognise(bytes); }

// What is said of bytes that are neither a message nor known as the filter of another program.
std::optional<error> why_unknown(byte_view bytes) {
    if (bytes.size() < 4 || is_message(bytes)) return std::nullopt;
    if (auto why = foreign_filter::why_unknown(bytes)) return why;
    if (foreign_filter::is_parquet_file(bytes))
        return error::unsupported(
            "a Parquet file; posy.ForeignFilter.of_parquet_column(path, column) has the filters of a column",
            0);
    return error::damaged(
        "not a Posy message (it does not start with \"POSY\"); if it is a filter of another program, name "
        "its "
        "format: posy.ForeignFilter.load(path, \"leveldb\"), or from_bytes(data, \"leveldb\")",
        0);
}

// A filter of another program, if the bytes are one.
std::unique_ptr<foreign_object> foreign_of(byte_view bytes) {
    if (is_foreign(bytes)) return foreign_of_bytes(bytes);
    if (const auto why = why_unknown(bytes)) throw exception(*why);
    return nullptr;
}

// The same of a file, which errors name.
std::unique_ptr<foreign_object> foreign_at(const std::filesystem::path& path, byte_view bytes) {
    if (is_foreign(bytes)) return foreign_of_bytes(bytes);
    if (const auto why = why_unknown(bytes)) throw exception(why->behind(path.string()));
    return nullptr;
}

}  // namespace

void add_messages(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "_from_bytes",
        [](nb::handle source, std::optional<whole<"max_bytes">> max_bytes) {
            const held_bytes bytes(source);
            const auto limits = limits_of(max_bytes);
            if (auto foreign = foreign_of(bytes.view())) return nb::cast(std::move(foreign));
            return python_object(read_unlocked([&] { return body_of_bytes(bytes.view(), limits); }));
        },
        "message"_a, "max_bytes"_a.none());
    m.def(
        "_load",
        [](const std::filesystem::path& path, bool mapped, std::optional<whole<"max_bytes">> max_bytes) {
            const auto limits = limits_of(max_bytes);
            if (const auto bytes = read_unlocked([&] { return whole_pipe(path); })) {
                if (auto foreign = foreign_at(path, *bytes)) return nb::cast(std::move(foreign));
                return python_object(read_unlocked([&] { return body_at(path, *bytes, limits); }));
            }
            if (!is_message(first_bytes(path)))
                if (auto foreign = foreign_at(path, whole_file(path))) return nb::cast(std::move(foreign));
            return python_object(read_unlocked([&] { return body_of_file(path, mapped, limits); }));
        },
        "path"_a, "mmap"_a, "max_bytes"_a.none());
}

}  // namespace posy::python
