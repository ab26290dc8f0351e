// The keys of every measurement, the same in each: key i is a bijection of i, so keys of different indices
// differ, and what was inserted (indices below n) never meets what is absent (indices from 2^40 on).
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "peer.hpp"

namespace compare {

inline constexpr std::uint64_t first_absent = std::uint64_t{1} << 40;

// Stafford's mix of a Weyl sequence (Steele, Lea and Flood 2014): every step can be undone.
inline std::uint64_t key_at(std::uint64_t index) {
    std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Which keys a measurement uses: the first n, q of them again in random order, and q that are absent.
struct key_indices {
    std::uint64_t keys, queries;
    std::uint64_t inserted(std::uint64_t i) const { return i; }
    std::uint64_t present(std::uint64_t i) const { return key_at(first_absent * 2 + i) % keys; }
    std::uint64_t absent(std::uint64_t i) const { return first_absent + i; }
};

// Keys that lie one behind the other, as integers or as URLs of 36 bytes.
template <class Key>
class key_list {
  public:
    template <class Index>
    key_list(std::uint64_t count, Index index) : keys_(count) {
        if constexpr (std::same_as<Key, text>) bytes_.resize(count * length + 1);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t key = key_at(index(i));
            if constexpr (std::same_as<Key, text>) {
                char* at = bytes_.data() + i * length;
                std::snprintf(at, length + 1, "http://posy.example/%016llx",
                              static_cast<unsigned long long>(key));
                keys_[i] = {at, length};
            } else {
                keys_[i] = key;
            }
        }
    }
    operator std::span<const Key>() const { return keys_; }

  private:
    static constexpr std::size_t length = 36;
    std::string bytes_;
    std::vector<Key> keys_;
};

}  // namespace compare
