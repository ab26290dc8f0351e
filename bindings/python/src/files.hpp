// What every kind of message has in Python: bytes, files, copies by pickle.
//
// Bytes and files are messages (docs/format.md), which the tool and every other binding read.
#pragma once

#include <fcntl.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <unistd.h>

#include <memory>

#include "call.hpp"
#include "posy/message.hpp"
#include "whole.hpp"

namespace posy::python {

// The limits of a reader who gave this argument, or did not.
read_limits limits_of(const std::optional<whole<"max_bytes">>& max_bytes);

// Do bytes begin as a message does?
bool is_message(byte_view);
// A file, or the first bytes of it; OSError if it cannot be read.
std::vector<std::byte> whole_file(const std::filesystem::path&);
std::vector<std::byte> first_bytes(const std::filesystem::path&);
// All that comes out of a pipe or a device; none of a file or folder. It is opened once, because its bytes
// come once. To be called without the interpreter's lock: another thread of Python's may write them.
std::optional<std::vector<std::byte>> whole_pipe(const std::filesystem::path&);

// One message and nothing behind it, as any body. The bytes must stay where they are.
any_body body_of_bytes(byte_view, const read_limits& = {});
// The same with the name of their file in errors.
any_body body_at(const std::filesystem::path&, byte_view, const read_limits&);
// A file, mapped if it may be; OSError if it cannot be read.
any_body body_of_file(const std::filesystem::path&, bool mapped, const read_limits& = {});
void write_file(const std::filesystem::path&, body_ref, coding);
coding coding_named(std::string_view);

// The bytes of a Python object, while this lives.
class held_bytes {
  public:
    explicit held_bytes(nb::handle source);
    held_bytes(const held_bytes&) = delete;
    held_bytes& operator=(const held_bytes&) = delete;
    ~held_bytes() { PyBuffer_Release(&held_); }
    byte_view view() const {
        return {static_cast<const std::byte*>(held_.buf), static_cast<std::size_t>(held_.len)};
    }

  private:
    Py_buffer held_;
};
inline nb::bytes bytes_of(byte_view bytes) { return nb::bytes(bytes.data(), bytes.size()); }

template <class Body>
Body expected(any_body body) {
    if (auto* found = std::get_if<Body>(&body)) return std::move(*found);
    throw exception(error::mismatch("this is a message of kind " + std::string(name_of(kind_of(body))) +
                                    ", not of kind " + std::string(name_of(kind_of_body<Body>)) +
                                    "; posy.load() and posy.from_bytes() take every kind"));
}

template <class Body>
nb::bytes message_of(const object<Body>& o, coding want) {
    return bytes_of(o.alone([&] { return to_bytes(o.body, {.want = want}); }));
}

template <class Body>
std::unique_ptr<object<Body>> object_of(any_body body) {
    return std::make_unique<object<Body>>(expected<Body>(std::move(body)));
}

// Two objects are equal if their bodies are; where bodies do not say so, if their messages are. What changes
// is no key of a dict.
template <class Body>
void add_equality(nb::class_<object<Body>>& type) {
    type.def(
        "__eq__",
        [](const object<Body>& a, const object<Body>& b) {
            return a.alone_with(b, [&] {
                if constexpr (std::equality_comparable<Body>)
                    return a.body == b.body;
                else
                    return to_bytes(a.body) == to_bytes(b.body);
            });
        },
        nb::is_operator());
    type.attr("__hash__") = nb::none();
}

// usual: the coding where none is asked for.
template <class Body>
void add_files(nb::class_<object<Body>>& type, const char* usual = "raw") {
    using namespace nb::literals;
    using self = object<Body>;
    add_equality(type);
    type.def(
        "to_bytes", [](const self& o, std::string_view want) { return message_of(o, coding_named(want)); },
        "coding"_a = usual,
        "As a message: bytes that say what they are, with a checksum. coding: \"raw\", \"fastest\" or "
        "\"smallest\".");
    type.def(
        "pack", [](const self& o) { return message_of(o, coding::smallest); },
        "As the smallest message: to_bytes(\"smallest\").");
    type.def_static(
        "from_bytes",
        [](nb::handle source, std::optional<whole<"max_bytes">> max_bytes) {
            const held_bytes bytes(source);
            const read_limits limits = limits_of(max_bytes);
            const nb::gil_scoped_release released;
            return object_of<Body>(body_of_bytes(bytes.view(), limits));
        },
        "message"_a, nb::kw_only(), "max_bytes"_a = nb::none(),
        "What to_bytes() or pack() made, or a file of the tool's that was read. max_bytes: as for "
        "posy.from_bytes().");
    type.def(
        "save",
        [](const self& o, const std::filesystem::path& path, std::string_view want) {
            const coding how = coding_named(want);
            o.alone([&] { write_file(path, o.body, how); });
        },
        "path"_a, "coding"_a = usual, "Write a file, all of it or nothing. The tool reads it, too.");
    type.def_static(
        "load",
        [](const std::filesystem::path& path, bool mmap, std::optional<whole<"max_bytes">> max_bytes) {
            const read_limits limits = limits_of(max_bytes);
            const nb::gil_scoped_release released;
            return object_of<Body>(body_of_file(path, mmap, limits));
        },
        "path"_a, "mmap"_a = true, nb::kw_only(), "max_bytes"_a = nb::none(),
        "Read a file. With mmap a raw array is read where it lies, and changes stay in memory; without it "
        "the file may change. max_bytes: as for posy.from_bytes().");
    type.def("__reduce__", [how = coding_named(usual)](nb::handle_t<self> o) {
        // A function of Python's own: pickle does not know those of nanobind.
        return nb::make_tuple(nb::module_::import_("posy").attr("_from_pickle"),
                              nb::make_tuple(message_of(self_of<self>(o.ptr()), how)));
    });
}

}  // namespace posy::python
