// What stands between Python and C++: no C++ exception reaches the interpreter, and no lock is waited for
// with the interpreter's own.
//
// Posy's errors become posy.Error, a ValueError with `kind` and `offset`; those of files an OSError, of the
// class that its errno says.
// Functions bound by nanobind get this from a translator; slots, which Python calls directly, run inside
// guarded_call().
//
// An object of Python's may be used by many threads while the interpreter's lock is released, so every object
// has a mutex. Invariant: a thread that holds such a mutex calls nothing of Python's, and so never waits for
// the interpreter. Cost: 10 ns per change.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/unique_ptr.h>

#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy::python {

namespace nb = nanobind;

// An error that is about a file.
class file_exception : public exception {
  public:
    file_exception(std::filesystem::path path, error why)
        : exception(std::move(why)), path_(std::move(path)) {}
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// posy.Error, and the translator.
void add_errors(nb::module_&);
// Sets the Python error for the exception that is being handled.
void set_current_error() noexcept;

// The value; Python gets the error if there is none.
template <class T>
T value_of(result<T> made) {
    return *std::move(made);
}
inline void check_done(const result<void>& done) { *done; }

template <class Work>
auto guarded_call(const Work& work, decltype(work()) failed) noexcept {
    try {
        return work();
    } catch (...) {
        set_current_error();
        return failed;
    }
}

[[noreturn]] void raise(PyObject* type, const std::string& text);

template <class Body>
hasher hasher_of(const Body& body) {
    if constexpr (requires { body.hash(); })
        return body.hash();
    else
        return hasher(body.geometry.hash, body.geometry.seed);
}

// A body, the hasher of its keys, and the mutex of both.
template <class Body>
struct object {
    explicit object(Body b) : body(std::move(b)), hash(hasher_of(body)) {}
    object(Body b, const hasher& h) : body(std::move(b)), hash(h) {}

    Body body;
    const hasher hash;
    mutable std::mutex lock;

    // Short work: the interpreter's lock is kept unless another thread has this one.
    template <class Work>
    auto briefly(const Work& work) const {
        if (lock.try_lock()) {
            const std::lock_guard held(lock, std::adopt_lock);
            return work();
        }
        return alone(work);
    }
    // Long work: other threads of Python run meanwhile.
    template <class Work>
    auto alone(const Work& work) const {
        const nb::gil_scoped_release released;
        const std::lock_guard held(lock);
        return work();
    }
    template <class Work>
    auto alone_with(const object& other, const Work& work) const {
        if (this == &other) return alone(work);
        const nb::gil_scoped_release released;
        const std::scoped_lock held(lock, other.lock);
        return work();
    }
};

// The object behind `self` in a slot; it may not have been initialised (Filter.__new__).
template <class Object>
Object& self_of(PyObject* self) {
    if (!nb::inst_ready(self)) [[unlikely]]
        raise(PyExc_TypeError, "the object was not initialised: __init__() was not called");
    return *nb::inst_ptr<Object>(self);
}

}  // namespace posy::python
