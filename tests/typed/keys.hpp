// Keys of all kinds, for tests that run over their types: keys_of<Key>(first, last) are those with these
// numbers, all different.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "posy/key_batches.hpp"

namespace posy {

enum class colour : std::uint32_t {};

struct user {
    std::string name;
    int id;
};
inline auto posy_key(const user& u) { return std::tie(u.name, u.id); }

template <class Key>
Key key_number(std::uint64_t i) {
    const std::string text = (i % 3 == 0 ? "key " : "a somewhat longer key, number ") + std::to_string(i);
    if constexpr (keys::integer<Key>) {
        return static_cast<Key>(i * 0x9e3779b1);  // odd: different in 32 bits, and some of them negative
    } else if constexpr (std::same_as<Key, user> || std::same_as<Key, std::pair<std::string, int>>) {
        return {text, static_cast<int>(i)};
    } else if constexpr (std::same_as<Key, std::vector<std::byte>>) {
        const auto bytes = as_byte_view(text);
        return {bytes.begin(), bytes.end()};
    } else if constexpr (std::same_as<Key, std::string>) {
        return text;
    } else {
        static std::deque<std::string> kept;  // what views and pointers point to
        return kept.emplace_back(text).c_str();
    }
}

template <class Key>
std::vector<Key> keys_of(std::uint64_t first, std::uint64_t last) {
    std::vector<Key> all;
    for (std::uint64_t i = first; i < last; ++i) all.push_back(key_number<Key>(i));
    return all;
}

template <class Key>
std::vector<digest> digests_of_all(const hasher& hash, const std::vector<Key>& keys) {
    std::vector<digest> digests;
    for (const Key& key : keys) digests.push_back(hash_key(hash, static_cast<key_argument<Key>>(key)));
    return digests;
}

using kinds_of_keys = testing::Types<std::string, std::string_view, const char*, std::uint64_t, int, colour,
                                     std::pair<std::string, int>, std::vector<std::byte>, user>;

// Room for the answers of a batch.
template <class Answer = bool>
struct answers_for {
    explicit answers_for(std::size_t count) : all(new Answer[count]()), span(all.get(), count) {}
    std::unique_ptr<Answer[]> all;
    std::span<Answer> span;
};

}  // namespace posy
