#include "files.hpp"

#include <cstring>

#include "posy/base/file.hpp"

namespace posy::python {
namespace {

any_body only_message(message one, std::uint64_t size) {
    if (one.size != size)
        throw exception(error::invalid(
            "there is more behind the message; the tool reads several of them from one file", one.size));
    return std::move(one.body);
}

// An error about the limits of a reader, with the argument that raises them.
result<message> with_argument(result<message> read) {
    if (read || !read.error().limit) return read;
    error why = read.error();
    why.message += " (max_bytes=)";
    return why;
}

// The value, or its error with the name of the file.
template <class T>
T value_at(const std::filesystem::path& path, result<T> made) {
    if (!made) throw file_exception(path, made.error());
    return *std::move(made);
}

}  // namespace

std::optional<std::vector<std::byte>> whole_pipe(const std::filesystem::path& path) {
    constexpr std::size_t most = std::size_t{1} << 32;
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (unknown || !std::filesystem::is_other(status)) return std::nullopt;
    const auto file = value_at(path, base::open_for_reading(path));
    std::vector<std::byte> bytes(1 << 16);
    std::size_t size = 0;
    for (;;) {
        size += value_at(path, base::read_fully(file.get(), std::span(bytes).subspan(size)));
        if (size < bytes.size()) break;  // the end
        if (size >= most)
            throw file_exception(path,
                                 error::too_large("more than 4 GiB from a pipe; write them to a file first"));
        bytes.resize(2 * size);
    }
    bytes.resize(size);
    return bytes;
}

any_body body_of_bytes(byte_view bytes, const read_limits& limits) {
    return only_message(value_of(with_argument(from_bytes(bytes, limits))), bytes.size());
}

any_body body_at(const std::filesystem::path& path, byte_view bytes, const read_limits& limits) {
    return only_message(value_at(path, with_argument(from_bytes(bytes, limits))), bytes.size());
}

bool is_message(byte_view bytes) { return bytes.size() >= 4 && std::memcmp(bytes.data(), "POSY", 4) == 0; }

std::vector<std::byte> whole_file(const std::filesystem::path& path) {
    const auto file = value_at(path, base::open_for_reading(path));
    std::vector<std::byte> bytes(base::regular_size(file.get()).value_or(1));  // a folder is an error
    bytes.resize(value_at(path, base::read_fully(file.get(), bytes)));
    return bytes;
}

std::vector<std::byte> first_bytes(const std::filesystem::path& path) {
    const auto file = value_at(path, base::open_for_reading(path));
    std::vector<std::byte> bytes(16);
    bytes.resize(value_at(path, base::read_fully(file.get(), bytes)));
    return bytes;
}

any_body body_of_file(const std::filesystem::path& path, bool mapped, const read_limits& limits) {
    if (const auto bytes = whole_pipe(path)) return body_at(path, *bytes, limits);
    if (mapped) {
        message one = value_at(path, with_argument(load(path, limits)));
        return only_message(std::move(one), std::filesystem::file_size(path));
    }
    return body_at(path, whole_file(path), limits);
}

void write_file(const std::filesystem::path& path, body_ref body, coding want) {
    if (const auto saved = save(path, body, {.want = want}); !saved)
        throw file_exception(path, saved.error());
}

coding coding_named(std::string_view name) {
    if (name == "raw") return coding::raw;
    if (name == "fastest") return coding::fastest;
    if (name == "smallest") return coding::smallest;
    throw exception(
        error::invalid("there is no coding \"" + std::string(name) + "\"; there are raw, fastest, smallest"));
}

read_limits limits_of(const std::optional<whole<"max_bytes">>& max_bytes) {
    return max_bytes ? read_limits::exactly(*max_bytes) : read_limits();
}

held_bytes::held_bytes(nb::handle source) {
    if (PyUnicode_Check(source.ptr()))
        raise(PyExc_TypeError, "a message is bytes, not str; a file is read with load()");
    if (PyObject_GetBuffer(source.ptr(), &held_, PyBUF_SIMPLE) != 0) throw nb::python_error();
}

}  // namespace posy::python
