// Keys as programs have them: what can be a key, and the bytes it stands for.
//
//   text      std::string, std::string_view, "literals", const char*, std::u8string
//             its bytes, as they are
//   bytes     spans, vectors and arrays of std::byte, unsigned char or char
//             as they are
//   integers  and enumerations, bool and characters
//             8 bytes, little-endian, two's complement; a char as unsigned char, whatever the machine has
//   pairs     and tuples, and arrays of anything else
//             their parts one after the other: an integer as above; text and bytes behind their length, which
//             is an integer; a pair in a pair as its parts
//
// So equal keys of different types are one key, in every program and language: "a" and std::string("a"), 7
// and 7L, the integer 7 and its eight bytes. A type of your own is a key if it says what it stands for:
//
//   struct user { std::string name; int id; };
//   auto posy_key(const user& u) { return std::tie(u.name, u.id); }    // in the namespace of user
//
// Floating-point numbers and pointers are refused where the program is compiled.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"

namespace posy {
namespace keys {

template <class T>
concept told = requires(const T& key) {
    posy_key(key);
};

template <class T>
concept integer = (std::integral<T> || std::is_enum_v<T>)&&!told<T> && sizeof(T) <= 8;

template <class T>
concept text = !std::same_as<T, std::nullptr_t> && (std::convertible_to<const T&, std::string_view> ||
                                                    std::convertible_to<const T&, std::u8string_view>);

template <class T>
concept byte_like = std::same_as<T, std::byte> || std::same_as<T, unsigned char> || std::same_as<T, char> ||
    std::same_as<T, signed char> || std::same_as<T, char8_t>;

template <class T>
concept bytes = !text<T> && std::ranges::contiguous_range<const T> && std::ranges::sized_range<const T> &&
                byte_like<std::ranges::range_value_t<const T>>;

template <class T>
concept parts = !bytes<T> && !told<T> && requires {
    std::tuple_size<T>::value;
};

template <class T>
consteval bool check() {
    static_assert(
        !std::floating_point<T>,
        "floating-point numbers are no keys: equal numbers can have different bytes (0.0 and -0.0); "
        "round to an integer, or write them as text");
    static_assert(!std::is_pointer_v<T> || text<T>,
                  "a pointer is no key: its address means nothing to another process; use what it points to");
    static_assert(integer<T> || text<T> || bytes<T> || told<T> || parts<T> || std::floating_point<T> ||
                      std::is_pointer_v<T>,
                  "tell what a key of this type stands for: auto posy_key(const T& key) { return "
                  "std::tie(key.a, key.b); }");
    return true;
}

inline byte_view view(std::string_view text) { return as_byte_view(text); }
inline byte_view view(std::u8string_view text) { return std::as_bytes(std::span(text)); }
template <bytes T>
byte_view view(const T& key) {
    return std::as_bytes(std::span(std::ranges::data(key), std::ranges::size(key)));
}

template <integer T>
constexpr std::uint64_t word_of(T key) {
    if constexpr (std::same_as<T, char>) return static_cast<unsigned char>(key);
    return static_cast<std::uint64_t>(key);
}

// The bytes of a part of a key: how many, and written to `to`, whose end is returned.
template <class T>
std::size_t size_of(const T& key) {
    if constexpr (integer<T>) {
        return 8;
    } else if constexpr (told<T>) {
        return size_of(posy_key(key));
    } else if constexpr (text<T> || bytes<T>) {
        return 8 + view(key).size();
    } else {
        static_assert(check<T>());
        return std::apply([](const auto&... part) { return (std::size_t{0} + ... + size_of(part)); }, key);
    }
}
template <class T>
std::byte* put(std::byte* to, const T& key) {
    if constexpr (integer<T>) {
        store_little(to, word_of(key));
        return to + 8;
    } else if constexpr (told<T>) {
        return put(to, posy_key(key));
    } else if constexpr (text<T> || bytes<T>) {
        const byte_view all = view(key);
        to = put(to, all.size());
        if (!all.empty()) std::memcpy(to, all.data(), all.size());
        return to + all.size();
    } else {
        std::apply([&](const auto&... part) { ((to = put(to, part)), ...); }, key);
        return to;
    }
}

// Calls use(key): with 64 bits for an integer, with its bytes for any other key.
template <class T, class Use>
auto with_bytes(const T& key, Use use) {
    if constexpr (integer<T>) {
        return use(word_of(key));
    } else if constexpr (told<T>) {
        return with_bytes(posy_key(key), use);
    } else if constexpr (text<T> || bytes<T>) {
        return use(view(key));
    } else {
        const std::size_t size = size_of(key);
        if (std::array<std::byte, 256> few; size <= few.size()) {
            put(few.data(), key);
            return use(byte_view(few.data(), size));
        }
        std::vector<std::byte> many(size);
        put(many.data(), key);
        return use(byte_view(many));
    }
}

// How a function takes a key.
template <class T>
struct argument_of {
    static_assert(check<T>());
    using type = const T&;
};
template <integer T>
struct argument_of<T> {
    using type = T;
};
template <class T>
requires(!told<T> && std::convertible_to<const T&, std::string_view>) struct argument_of<T> {
    using type = std::string_view;
};
template <bytes T>
requires(!told<T>) struct argument_of<T> {
    using type = std::span<const std::ranges::range_value_t<const T>>;
};

}  // namespace keys

// How functions take a key of this type: an integer as it is, text as std::string_view, bytes as a span.
template <class Key>
using key_argument = typename keys::argument_of<std::remove_cvref_t<Key>>::type;

// The digest of a key.
template <class Key>
digest hash_key(const hasher& hash, const Key& key) {
    return keys::with_bytes(key, [&](auto bytes) { return hash(bytes); });
}

}  // namespace posy
