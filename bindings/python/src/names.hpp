// Words of Python's for enumerations and hashers.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "call.hpp"
#include "posy/base/names.hpp"
#include "posy/digest.hpp"

namespace posy::python {

// The member of that name; an error that lists all names.
template <named_enum Enum>
Enum member_named(std::string_view what, std::string_view name) {
    if (const auto found = named<Enum>(name)) return *found;
    std::string all;
    for (const std::string& each : names_of<Enum>()) all += (all.empty() ? "" : ", ") + each;
    throw exception(error::invalid("there is no " + std::string(what) + " \"" + std::string(name) +
                                   "\"; there are " + all));
}

inline nb::str str_of(std::string_view text) { return nb::str(text.data(), text.size()); }

// The hasher that keyword arguments ask for, of this family unless they name one. `secret` is SipHash with a
// random seed; `seed` an int of up to 128 bits.
struct hash_arguments {
    std::optional<std::string> family;
    nb::object seed;
    bool secret;
};
hasher hasher_for(const hash_arguments&, hash_family unless_named);
// A seed as Python has it, an int.
nb::object seed_of(const hasher&);

}  // namespace posy::python
