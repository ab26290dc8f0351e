// What every queryable form of a bit array has to hold, whatever its bytes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/how.hpp"
#include "codec/codec.hpp"
#include "hex.hpp"
#include "posy/base/wide.hpp"
#include "posy/bit_array.hpp"
#include "posy/digest.hpp"
#include "posy/layout/probe.hpp"
#include "statistics.hpp"

namespace posy::codec {

inline bit_array random_bits(std::uint64_t bits, double density, std::uint64_t seed) {
    auto array = *bit_array::make(bits);
    std::mt19937_64 random(seed);
    if (density > 0.01 || bits < 10'000) {
        const auto below = static_cast<std::uint64_t>(std::ldexp(density, 32));
        for (std::uint64_t i = 0; i < bits; ++i) {
            if (random() >> 32 < below) array.set(i);
        }
    } else {
        for (double left = density * static_cast<double>(bits); left > 0; --left) {
            array.set(base::scale(random(), bits));
        }
    }
    return array;
}

inline bit_view view_of(const bit_array& array) { return {array.words(), array.size(), array.ones()}; }

inline bit_array bits_of(std::uint64_t size, std::initializer_list<std::uint64_t> ones) {
    auto array = *bit_array::make(size);
    for (const std::uint64_t one : ones) array.set(one);
    return array;
}

inline std::uint64_t fingerprint(byte_view bytes) { return hasher()(bytes).low; }

// A copy in memory of exactly its size, at any alignment: the sanitizer sees a read of one byte too many.
class exact_copy {
  public:
    explicit exact_copy(byte_view bytes, std::size_t misalign = 1)
        : memory_(new std::byte[bytes.size() + misalign]), view_(memory_.get() + misalign, bytes.size()) {
        std::ranges::copy(bytes, memory_.get() + misalign);
    }
    operator byte_view() const { return view_; }

  private:
    std::unique_ptr<std::byte[]> memory_;
    byte_view view_;
};

// Every way to open it, and every answer.
template <class Form>
std::vector<result<Form>> open_every_way(byte_view bytes, std::uint64_t bits) {
    std::vector<result<Form>> ways;
    ways.push_back(Form::open(bytes, bits));
    if constexpr (requires { Form::open(bytes, bits, base::instruction_set::scalar); }) {
        ways.push_back(Form::open(bytes, bits, base::instruction_set::scalar));
    }
    return ways;
}

template <class Form>
void expect_equal_everywhere(const bit_array& array, byte_view bytes) {
    const exact_copy copy(bytes);
    for (const auto& form : open_every_way<Form>(copy, array.size())) {
        ASSERT_TRUE(form) << form.error().text();
        ASSERT_EQ(form->ones(), array.ones());
        for (std::uint64_t i = 0; i < array.size(); ++i) ASSERT_EQ(form->test(i), array.test(i)) << i;
        form->prefetch(0);
        form->prefetch(array.size() - 1);
        auto back = *bit_array::make(array.size());
        const auto unpacked = form->unpack({back.words(), back.size()});
        ASSERT_TRUE(unpacked) << unpacked.error().text();
        ASSERT_EQ(back, array);
    }
}

template <class Form, class Encode>
void small_arrays(Encode encode) {
    constexpr std::array densities{0.0, 1e-4, 0.01, 0.1, 0.5, 1.0};
    for (std::uint64_t bits = 1; bits <= 3000; ++bits) {
        for (std::size_t d = 0; d < densities.size(); ++d) {
            // All densities of the small sizes; later each size has one, in turn.
            if (bits > 300 && bits % densities.size() != d) continue;
            SCOPED_TRACE(std::to_string(bits) + " bits, density " + std::to_string(densities[d]));
            const auto array = random_bits(bits, densities[d], bits);
            expect_equal_everywhere<Form>(array, encode(view_of(array)));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

template <class Form, class Encode>
void uneven_arrays(Encode encode) {
    std::vector<bit_array> arrays;
    arrays.push_back(bits_of(100'000, {0}));
    arrays.push_back(bits_of(100'000, {99'999}));
    arrays.push_back(bits_of(100'000, {0, 99'999}));
    for (const std::uint64_t dense : {700u, 5000u, 30'000u}) {  // ones side by side in an empty array
        arrays.push_back(*bit_array::make(100'000));
        for (std::uint64_t i = 0; i < dense; ++i) arrays.back().set(50'000 + i);
        arrays.push_back(*bit_array::make(100'000));
        for (std::uint64_t i = 0; i < dense; ++i) arrays.back().set(i * 3);
    }
    for (const bit_array& array : arrays) {
        SCOPED_TRACE(array.ones());
        expect_equal_everywhere<Form>(array, encode(view_of(array)));
        if (testing::Test::HasFatalFailure()) return;
    }
}

template <class Form, class Encode>
void large_arrays(Encode encode) {
    std::mt19937_64 random(5);
    for (const double density : {1e-7, 1e-4, 0.0108, 0.05, 0.133, 0.24, 0.3, 0.45}) {
        SCOPED_TRACE(density);
        const auto array = random_bits(20'000'003, density, 3);
        const auto bytes = encode(view_of(array));
        for (const auto& form : open_every_way<Form>(bytes, array.size())) {
            ASSERT_TRUE(form) << form.error().text();
            for (int i = 0; i < 100'000; ++i) {
                const std::uint64_t position = base::scale(random(), array.size());
                ASSERT_EQ(form->test(position), array.test(position)) << position;
            }
            auto back = *bit_array::make(array.size());
            ASSERT_TRUE(form->unpack({back.words(), back.size()}));
            ASSERT_EQ(back, array);
        }
    }
}

// Whatever the bytes: an error, or answers. If they also unpack, the two agree.
template <class Form>
void expect_error_or_answers(byte_view bytes, std::uint64_t bits) {
    const exact_copy copy(bytes, bytes.size() % 8);
    for (const auto& form : open_every_way<Form>(copy, bits)) {
        if (!form) {
            EXPECT_LE(form.error().offset.value_or(0), bytes.size());
            continue;
        }
        auto asked = *bit_array::make(bits);
        for (std::uint64_t i = 0; i < bits; ++i) {
            if (form->test(i)) asked.set(i);
            if (i % 64 == 0) form->prefetch(i);
        }
        auto unpacked = *bit_array::make(bits);
        if (form->unpack({unpacked.words(), bits})) {
            ASSERT_EQ(unpacked, asked);
            ASSERT_EQ(form->ones(), asked.ones());
        }
    }
}

template <class Form, class Encode>
void hostile_bytes(Encode encode) {
    for (const double density : {0.0, 0.01, 0.1, 0.3, 0.6}) {
        SCOPED_TRACE(density);
        constexpr std::uint64_t bits = 1500;
        const auto array = random_bits(bits, density, 11);
        const auto bytes = encode(view_of(array));
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            EXPECT_FALSE(Form::open(exact_copy(byte_view(bytes).first(size)), bits));
        }
        auto longer = bytes;
        longer.push_back({});
        EXPECT_FALSE(Form::open(longer, bits));
        for (std::size_t flip = 0; flip < bytes.size() * 8; ++flip) {
            auto damaged = bytes;
            damaged[flip / 8] ^= static_cast<std::byte>(1 << flip % 8);
            expect_error_or_answers<Form>(damaged, bits);
        }
        for (const std::uint64_t other : {1u, 64u, 1499u, 1501u, 100'000u}) {
            expect_error_or_answers<Form>(bytes, other);
        }
    }
}

// Several blocks and groups of the directory, bytes anywhere changed to anything; the head more often.
template <class Form, class Encode>
void mutated_bytes(Encode encode, int mutations) {
    std::mt19937_64 random(13);
    for (const double density : {0.005, 0.13}) {
        constexpr std::uint64_t bits = 40'000;
        const auto array = random_bits(bits, density, 17);
        const auto bytes = encode(view_of(array));
        at_least opened(static_cast<unsigned>(mutations) / 10, "damaged arrays that open");
        for (int i = 0; i < mutations; ++i) {
            auto damaged = bytes;
            for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes) {
                const std::size_t reach = random() % 2 == 0 ? 40 : damaged.size();
                damaged[random() % std::min(reach, damaged.size())] = static_cast<std::byte>(random());
            }
            const exact_copy copy(damaged);
            for (const auto& form : open_every_way<Form>(copy, bits)) {
                if (!form) continue;
                ++opened;
                for (int j = 0; j < 50; ++j) {
                    form->prefetch(random() % bits);
                    static_cast<void>(form->test(random() % bits));
                }
                auto room = *bit_array::make(bits);
                static_cast<void>(form->unpack({room.words(), bits}).ok());
            }
        }
    }
}

// The bytes change after open() has checked the directory.
template <class Form, class Encode>
void bytes_that_change_later(Encode encode) {
    std::mt19937_64 random(19);
    constexpr std::uint64_t bits = 40'000;
    const auto array = random_bits(bits, 0.13, 23);
    const auto bytes = encode(view_of(array));
    const std::unique_ptr<std::byte[]> memory(new std::byte[bytes.size()]);
    for (int i = 0; i < 300; ++i) {
        std::ranges::copy(bytes, memory.get());
        const auto forms = open_every_way<Form>({memory.get(), bytes.size()}, bits);
        for (std::size_t j = 0; j < bytes.size(); ++j) memory[j] = static_cast<std::byte>(random());
        for (const auto& form : forms) {
            for (int j = 0; j < 100; ++j) {
                form->prefetch(random() % bits);
                static_cast<void>(form->test(random() % bits));
            }
            auto room = *bit_array::make(bits);
            static_cast<void>(form->unpack({room.words(), bits}).ok());
        }
    }
}

}  // namespace posy::codec
