#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "posy/bit_array.hpp"

namespace posy {
namespace {

TEST(bit_array, starts_empty_and_holds_what_is_set) {
    for (const std::uint64_t size : {1u, 63u, 64u, 65u, 1000u, 40'000'000u}) {
        auto bits = *bit_array::make(size);
        EXPECT_EQ(bits.ones(), 0u);
        const std::set<std::uint64_t> some{0, size / 3, size / 2, size - 1};
        for (const std::uint64_t i : some) bits.set(i);
        EXPECT_EQ(bits.ones(), some.size());
        for (const std::uint64_t i : some) EXPECT_TRUE(bits.test(i));
        auto copy = *bits.clone();
        EXPECT_EQ(copy, bits);
        copy.flip(size / 2);
        EXPECT_FALSE(copy == bits);
        bits.clear();
        EXPECT_EQ(bits.ones(), 0u);
    }
}

TEST(bit_array, refuses_more_than_the_machine_has) {
    const auto bits = bit_array::make(std::uint64_t{1} << 60);
    ASSERT_FALSE(bits);
    EXPECT_NE(bits.error().message.find("no memory"), std::string::npos);
}

TEST(bit_array, large_arrays_ask_for_huge_pages) {
    EXPECT_FALSE(bit_array::make(1000)->pages().asked_for_huge);
    std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
    if (setting) {  // a kernel that has them
        auto bits = *bit_array::make(1 << 26);
        bits.set(0);
        EXPECT_TRUE(bits.pages().asked_for_huge);
        EXPECT_LE(bits.pages().huge_bytes, 1u << 23);
    }
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bit_array::make(1 << 26)->words().data()) % (2 << 20), 0u);
}

TEST(bit_array, a_mapped_array_reads_the_file_and_never_writes_it) {
    std::FILE* file = std::tmpfile();
    std::array<std::uint64_t, 10> words{7};
    words[8] = 1, words[9] = 2;
    std::fwrite(words.data(), 8, words.size(), file);
    std::fflush(file);
    auto bits = *bit_array::map(fileno(file), 64, 128);
    EXPECT_TRUE(bits.test(0));
    EXPECT_TRUE(bits.test(65));
    EXPECT_EQ(bits.ones(), 2u);
    bits.set(1);
    EXPECT_EQ(bit_array::map(fileno(file), 64, 128)->ones(), 2u);
    std::fclose(file);
}

TEST(bit_array, concurrent_sets_lose_nothing) {
    auto bits = *bit_array::make(4096);
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&bits, t] {
            for (std::uint64_t i = t; i < 4096; i += 4) bits.set_concurrently(i);
        });
    }
    threads.clear();
    EXPECT_EQ(bits.ones(), 4096u);
}

}  // namespace
}  // namespace posy
