// Enumerations with names.
//
// An enumeration is written once, and beside it a constexpr name_of(): a switch, so that the compiler refuses
// a member without a name. Numbers that are no member have an empty name; lists and lookups follow from that.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace posy {

template <class Enum>
concept named_enum = std::same_as<std::underlying_type_t<Enum>, std::uint8_t> && requires(Enum e) {
    { name_of(e) } -> std::same_as<std::string_view>;
};

// All members, in the order of their numbers.
template <named_enum Enum>
inline constexpr auto members = [] {
    constexpr auto has_name = [](unsigned number) { return !name_of(static_cast<Enum>(number)).empty(); };
    constexpr auto count = [=] {
        std::size_t named = 0;
        for (unsigned number = 0; number < 256; ++number) named += has_name(number);
        return named;
    };
    std::array<Enum, count()> all{};
    std::size_t next = 0;
    for (unsigned number = 0; number < 256; ++number) {
        if (has_name(number)) all[next++] = static_cast<Enum>(number);
    }
    return all;
}();

template <named_enum Enum>
constexpr bool is_member(Enum value) {
    return !name_of(value).empty();
}

// The names of all members, or of some.
template <named_enum Enum>
std::vector<std::string> names_of(std::span<const Enum> some = members<Enum>) {
    std::vector<std::string> all;
    for (const Enum member : some) all.emplace_back(name_of(member));
    return all;
}

// The member of that name.
template <named_enum Enum>
constexpr std::optional<Enum> named(std::string_view name) {
    for (const Enum member : members<Enum>) {
        if (name_of(member) == name) return member;
    }
    return std::nullopt;
}

}  // namespace posy
