// What each type promises about a key, given the truth about that key, which is a number:
//
//   type                                           number                   promise
//   bloom, counting, growing, compressed, sealed   insertions not removed   not denied if it is there
//   spectral_filter, count_min, heavy_hitters      occurrences              never counted too low
//   window_filter                                  when it came last        not denied within the window
//   bloomier_map                                   its value                found with that value
//
// checked.hpp keeps the numbers and asks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "posy/message.hpp"

namespace posy {

// How numbers change.
struct counted_keys {
    static std::uint64_t inserted(std::uint64_t before, std::uint64_t times = 1) { return before + times; }
    static std::uint64_t united(std::uint64_t a, std::uint64_t b) { return a + b; }
    // After a change, the keys in this many buckets of the truth are asked for.
    static constexpr std::size_t watched = 128;
};

template <class Type>
struct oracle : counted_keys {
    static bool keeps(const Type& object, digest d, std::uint64_t times) {
        return times == 0 || object.may_contain(d);
    }
    // Does the object know how many keys it was given, and how often?
    static bool adds_up(const Type& object, std::uint64_t /*keys*/, std::uint64_t sum) {
        const std::optional<std::uint64_t> items = object.items();
        return !items || *items == sum;
    }
};

template <>
struct oracle<sealed_filter> : counted_keys {
    static bool keeps(const sealed_filter& object, digest d, std::uint64_t) { return object.may_contain(d); }
    static bool adds_up(const sealed_filter& object, std::uint64_t keys, std::uint64_t) {
        return object.items() == keys;
    }
};

template <>
struct oracle<bloomier_map> : counted_keys {
    static bool keeps(const bloomier_map& object, digest d, std::uint64_t value) {
        return object.find(d) == value;
    }
    static bool adds_up(const bloomier_map& object, std::uint64_t keys, std::uint64_t) {
        return object.items() == keys;
    }
};

template <>
struct oracle<window_filter> : counted_keys {
    static constexpr std::size_t watched = 16;
    static std::uint64_t inserted(std::uint64_t before, std::uint64_t time) { return std::max(before, time); }
    static std::uint64_t united(std::uint64_t a, std::uint64_t b) { return std::max(a, b); }
    static bool keeps(const window_filter& object, digest d, std::uint64_t last, std::uint64_t now = 0) {
        now = std::max(now, object.latest());
        const bool old = now > last && now - last > object.remembered_at_least();
        return old || object.may_contain(d, now);
    }
    static bool adds_up(const window_filter&, std::uint64_t, std::uint64_t) { return true; }
};

template <>
struct oracle<count_min> : counted_keys {
    static bool keeps(const count_min& object, digest d, std::uint64_t weight) {
        return object.estimate(d) >= weight;
    }
    static bool adds_up(const count_min& object, std::uint64_t, std::uint64_t sum) {
        return object.total() == sum;
    }
};

template <>
struct oracle<spectral_filter> : counted_keys {
    static constexpr std::size_t watched = 32;
    static bool keeps(const spectral_filter& object, digest d, std::uint64_t times) {
        const std::uint64_t most = object.at_most(d), estimate = object.estimate(d);
        const bool may_be_low = object.method() == spectral_method::recurring_minimum;
        return most >= times && (may_be_low ? estimate <= most : estimate == most) &&
               object.may_contain(d) == (most > 0);
    }
    static bool adds_up(const spectral_filter& object, std::uint64_t, std::uint64_t sum) {
        return object.items() == sum;
    }
};

template <>
struct oracle<heavy_hitters> : counted_keys {
    static constexpr std::size_t watched = 4;
    static bool keeps(const heavy_hitters& object, digest d, std::uint64_t weight) {
        return object.sketch().estimate(d) >= weight;
    }
    static bool adds_up(const heavy_hitters& object, std::uint64_t, std::uint64_t sum) {
        return object.sketch().total() == sum;
    }
};

}  // namespace posy
