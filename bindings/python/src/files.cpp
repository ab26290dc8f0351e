#include "files.hpp"

#include <cerrno>
#include <cstring>

#include "posy/base/file.hpp"

namespace posy::python {
namespace {

any_body only_message(result<message> read, std::uint64_t size) {
    message one = value_of(std::move(read));
    if (one.size != size)
        throw exception(error::invalid(
            "there is more behind the message; the tool reads several of them from one file", one.size));
    return std::move(one.body);
}

// The system's own error where there is one: FileNotFoundError, PermissionError …
void check_readable(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ::close(file);
        return;
    }
    const int why = errno;
    const nb::gil_scoped_acquire held;
    errno = why;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
    throw nb::python_error();
}

// The value, or its error behind the name of the file.
template <class T>
T value_at(const std::filesystem::path& path, result<T> made) {
    if (!made) throw exception(made.error().behind(path.string()));
    return *std::move(made);
}

}  // namespace

any_body body_of_bytes(byte_view bytes, const read_limits& limits) {
    return only_message(from_bytes(bytes, limits), bytes.size());
}

bool is_message(byte_view bytes) { return bytes.size() >= 4 && std::memcmp(bytes.data(), "POSY", 4) == 0; }

std::vector<std::byte> whole_file(const std::filesystem::path& path) {
    check_readable(path);
    const auto file = value_at(path, base::open_for_reading(path));
    std::vector<std::byte> bytes(base::regular_size(file.get()).value_or(0));
    bytes.resize(value_at(path, base::read_fully(file.get(), bytes)));
    return bytes;
}

std::vector<std::byte> first_bytes(const std::filesystem::path& path) {
    check_readable(path);
    const auto file = value_at(path, base::open_for_reading(path));
    std::vector<std::byte> bytes(16);
    bytes.resize(value_at(path, base::read_fully(file.get(), bytes)));
    return bytes;
}

any_body body_of_file(const std::filesystem::path& path, bool mapped, const read_limits& limits) {
    check_readable(path);
    if (mapped) return only_message(value_at(path, load(path, limits)), std::filesystem::file_size(path));
    const auto bytes = whole_file(path);
    message one = value_at(path, from_bytes(bytes, limits));
    return only_message(std::move(one), bytes.size());
}

void write_file(const std::filesystem::path& path, body_ref body, coding want) {
    if (const auto saved = save(path, body, {.want = want}); !saved)
        throw exception(saved.error().behind(path.string()));
}

coding coding_named(std::string_view name) {
    if (name == "raw") return coding::raw;
    if (name == "fastest") return coding::fastest;
    if (name == "smallest") return coding::smallest;
    throw exception(
        error::invalid("there is no coding \"" + std::string(name) + "\"; there are raw, fastest, smallest"));
}

held_bytes::held_bytes(nb::handle source) {
    if (PyUnicode_Check(source.ptr()))
        raise(PyExc_TypeError, "a message is bytes, not str; a file is read with load()");
    if (PyObject_GetBuffer(source.ptr(), &held_, PyBUF_SIMPLE) != 0) throw nb::python_error();
}

}  // namespace posy::python
