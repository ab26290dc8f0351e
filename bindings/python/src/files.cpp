#include "files.hpp"

#include <cerrno>

#include "posy/base/file.hpp"

namespace posy::python {
namespace {

any_body only_message(result<message> read, std::uint64_t size) {
    message one = value_of(std::move(read));
    if (one.size != size)
        throw exception(error::invalid(
            "there is more behind the message; a stream is read with posy.messages()", one.size));
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

}  // namespace

any_body body_of_bytes(byte_view bytes) { return only_message(from_bytes(bytes), bytes.size()); }

any_body body_of_file(const std::filesystem::path& path, bool mapped) {
    check_readable(path);
    const auto named = [&](const error& why) { return exception(why.behind(path.string())); };
    if (mapped) {
        auto read = load(path);
        if (!read) throw named(read.error());
        return std::move(read->body);
    }
    auto file = base::open_for_reading(path);
    if (!file) throw named(file.error());
    const std::uint64_t size = base::regular_size(file->get()).value_or(0);
    std::vector<std::byte> bytes(size);
    const auto got = base::read_fully(file->get(), bytes);
    if (!got) throw named(got.error());
    auto read = from_bytes(byte_view(bytes).first(*got));
    if (!read) throw named(read.error());
    return only_message(std::move(read), *got);
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
