// What stands between C and C++: no exception leaves, NULL and structs of other versions are checked, and
// errors become a status and a text in the caller's memory.
//
// Every function of posy.h that can fail does its work inside call(), where it throws what is wrong. Cost:
// none beside the checks of the pointers, unless there is an error. Thread safety: no state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "posy.h"
#include "posy/base/names.hpp"
#include "posy/digest.hpp"
#include "posy/read_limits.hpp"
#include "posy/result.hpp"

namespace posy::c {

// The status of the exception that is being handled, and its text in *error.
posy_status report(posy_error* error) noexcept;

template <class Work>
posy_status call(posy_error* error, const Work& work) noexcept {
    try {
        work();
    } catch (...) {
        return report(error);
    }
    if (error) {
        error->status = POSY_OK;
        error->zero = 0;
        error->offset = POSY_UNKNOWN;
        error->text[0] = '\0';
    }
    return POSY_OK;
}

// The same for an answer of 1 or 0; -1 if there is none.
template <class Work>
int ask(const Work& work) noexcept {
    try {
        return work() ? 1 : 0;
    } catch (...) {
        return -1;
    }
}

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw exception(error::invalid(otherwise));
}
template <class T>
T& given(T* pointer, const char* name) {
    if (!pointer) throw exception(error::invalid("the argument " + std::string(name) + " is NULL"));
    return *pointer;
}
// Where a handle is to be written; NULL until there is one.
template <class Handle>
Handle*& place_for(Handle** place, const char* name) {
    given(place, name) = nullptr;
    return *place;
}
inline byte_view bytes_given(const void* data, std::size_t size, const char* name) {
    if (size != 0) given(static_cast<const std::byte*>(data), name);
    return {static_cast<const std::byte*>(data), size};
}
inline std::string_view key_given(const void* key, std::size_t size) {
    if (size != 0) given(static_cast<const char*>(key), "key");
    return {static_cast<const char*>(key), size};
}

// The size that a struct had in the version that brought it; a number from when it grows.
template <class Struct>
inline constexpr std::size_t first_size = sizeof(Struct);

template <class Struct>
std::size_t size_of(const Struct* of, const char* name) {
    const std::size_t size = given(of, name).struct_size;
    if (size < first_size<Struct>)
        throw exception(error::invalid("struct_size of " + std::string(name) + " is " + std::to_string(size) +
                                       "; set it to the sizeof of the struct"));
    return size;
}
// A struct that grows: what the caller's version has of it, the rest 0. A newer caller must not use what this
// version does not know.
template <class Struct>
Struct read(const Struct* from, const char* name) {
    const std::size_t size = size_of(from, name);
    const auto* bytes = reinterpret_cast<const char*>(from);
    if (size > sizeof(Struct) &&
        std::any_of(bytes + sizeof(Struct), bytes + size, [](char c) { return c != 0; }))
        throw exception(error::unsupported(std::string(name) + " has members that this version, " +
                                           posy_version() + ", does not know; leave them 0"));
    Struct whole{};
    std::memcpy(&whole, from, std::min(size, sizeof whole));
    if constexpr (requires { whole.zero; })
        require(whole.zero == 0, "the member zero is not 0; it is for later versions");
    return whole;
}
// As much of a result as the caller has room for.
template <class Struct>
void write(Struct* to, const char* name, Struct from) {
    from.struct_size = size_of(to, name);
    std::memcpy(to, &from, std::min(from.struct_size, sizeof from));
}

// A member of an enumeration by its number in C; nothing for 0.
template <named_enum Enum>
std::optional<Enum> member(std::uint32_t number, const char* name) {
    if (number == 0) return std::nullopt;
    if (number > 255 || !is_member(static_cast<Enum>(number)))
        throw exception(error::invalid(std::string(name) + " is " + std::to_string(number) +
                                       ", which is none of the constants for it"));
    return static_cast<Enum>(number);
}
inline std::optional<hasher> hasher_of(std::uint32_t family, std::uint64_t low, std::uint64_t high) {
    const auto chosen = member<hash_family>(family, "hash");
    require(chosen || (low == 0 && high == 0), "a seed needs a hash: set hash to one of POSY_HASH_…");
    if (!chosen) return std::nullopt;
    const hasher hash(*chosen, {low, high});
    *check(hash);
    return hash;
}

inline read_limits limits_of(std::uint64_t max_memory) {
    return max_memory == 0 ? read_limits{} : read_limits::exactly(max_memory);
}

}  // namespace posy::c
