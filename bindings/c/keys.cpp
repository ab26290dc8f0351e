#include "keys.hpp"

#include <string>

namespace posy::c {
namespace {

[[noreturn]] void refuse(std::size_t i, const char* why) {
    throw exception(error::invalid("key " + std::to_string(i) + " " + why));
}

template <class T>
const T* array(const posy_keys& keys, const void* at, const char* name) {
    if (keys.count != 0 && !at) throw exception(error::invalid(std::string(name) + " of the keys is NULL"));
    if (reinterpret_cast<std::uintptr_t>(at) % alignof(T) != 0)
        throw exception(error::invalid(std::string(name) + " of the keys is not aligned to " +
                                       std::to_string(alignof(T)) + " bytes; copy the array"));
    if (keys.count > PTRDIFF_MAX / sizeof(T))
        throw exception(error::invalid("more keys than fit into memory"));
    return static_cast<const T*>(at);
}

void check_bytes(const posy_keys& keys) {
    const auto* all = array<posy_bytes>(keys, keys.values, "values");
    for (std::size_t i = 0; i < keys.count; ++i) {
        if (!all[i].data && all[i].size != 0) refuse(i, "is NULL");
        if (all[i].size > PTRDIFF_MAX) refuse(i, "is longer than memory");
    }
}

void check_texts(const posy_keys& keys) {
    const auto* all = array<const char*>(keys, keys.values, "values");
    for (std::size_t i = 0; i < keys.count; ++i)
        if (!all[i]) refuse(i, "is NULL");
}

template <class Offset>
void check_offsets(const posy_keys& keys) {
    if (keys.count == 0) return;
    const auto* offsets = array<Offset>(keys, keys.offsets, "offsets");
    if (offsets[0] < 0) refuse(0, "starts before the data: its offset is negative");
    for (std::size_t i = 0; i < keys.count; ++i)
        if (offsets[i + 1] < offsets[i]) refuse(i, "ends before it starts: its offsets decrease");
    const auto end = static_cast<std::uint64_t>(offsets[keys.count]);
    if (end > keys.values_size) refuse(keys.count - 1, "ends behind the data: see values_size");
    if (end != 0 && !keys.values) throw exception(error::invalid("values of the keys is NULL"));
}

template <class Offset>
std::string_view between(const posy_keys& keys, std::size_t i) {
    const auto* offsets = static_cast<const Offset*>(keys.offsets);
    const auto size = static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
    if (size == 0) return {};
    return {static_cast<const char*>(keys.values) + offsets[i], size};
}

}  // namespace

const posy_keys& checked(const posy_keys* from) {
    const posy_keys& keys = given(from, "keys");
    require(keys.zero == 0, "the member zero of the keys is not 0; it is for later versions");
    switch (keys.form) {
        case POSY_KEYS_U64:
        case POSY_KEYS_I64:
            array<std::uint64_t>(keys, keys.values, "values");
            return keys;
        case POSY_KEYS_BYTES:
            check_bytes(keys);
            return keys;
        case POSY_KEYS_TEXTS:
            check_texts(keys);
            return keys;
        case POSY_KEYS_OFFSETS32:
            check_offsets<std::int32_t>(keys);
            return keys;
        case POSY_KEYS_OFFSETS64:
            check_offsets<std::int64_t>(keys);
            return keys;
    }
    throw exception(error::invalid("form of the keys is " + std::to_string(keys.form) +
                                   ", which is none of POSY_KEYS_…"));
}

std::string_view key_at(const posy_keys& keys, std::size_t i) {
    switch (keys.form) {
        case POSY_KEYS_BYTES: {
            const auto& key = static_cast<const posy_bytes*>(keys.values)[i];
            return {static_cast<const char*>(key.data), key.size};
        }
        case POSY_KEYS_TEXTS:
            return static_cast<const char* const*>(keys.values)[i];
        case POSY_KEYS_OFFSETS32:
            return between<std::int32_t>(keys, i);
        default:
            return between<std::int64_t>(keys, i);
    }
}

}  // namespace posy::c
