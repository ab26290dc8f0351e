#include "names.hpp"

#include "posy/secret_hash.hpp"

namespace posy::python {
namespace {

hash_seed seed_from(nb::handle number) {
    if (!PyLong_Check(number.ptr()) || PyBool_Check(number.ptr())) raise(PyExc_TypeError, "a seed is an int");
    const nb::object shift = nb::steal(PyLong_FromLong(64));
    const nb::object high = nb::steal(PyNumber_Rshift(number.ptr(), shift.ptr()));
    if (!high.is_valid()) throw nb::python_error();
    const std::uint64_t low_word = PyLong_AsUnsignedLongLongMask(number.ptr());
    const std::uint64_t high_word = PyLong_AsUnsignedLongLong(high.ptr());
    if (PyErr_Occurred()) {
        PyErr_Clear();
        raise(PyExc_OverflowError, "a seed is an int from 0 to 2**128 - 1");
    }
    return {low_word, high_word};
}

}  // namespace

hasher hasher_for(const hash_arguments& asked, hash_family unless_named) {
    const bool seeded = asked.seed.is_valid() && !asked.seed.is_none();
    if (asked.secret) {
        if (asked.family || seeded)
            throw exception(error::invalid("secret=True chooses hash and seed; give it alone"));
        return hasher(hash_family::siphash, value_of(hash::random_seed()));
    }
    const hasher made(asked.family ? member_named<hash_family>("hash", *asked.family) : unless_named,
                      seeded ? seed_from(asked.seed) : hash_seed{});
    check_done(check(made));
    return made;
}

nb::object seed_of(const hasher& hash) {
    const nb::object low = nb::steal(PyLong_FromUnsignedLongLong(hash.seed().low));
    const nb::object high = nb::steal(PyLong_FromUnsignedLongLong(hash.seed().high));
    const nb::object shift = nb::steal(PyLong_FromLong(64));
    if (!low.is_valid() || !high.is_valid() || !shift.is_valid()) throw nb::python_error();
    return (high << shift) | low;
}

}  // namespace posy::python
