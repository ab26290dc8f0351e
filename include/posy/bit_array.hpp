// An array of bits in one piece of memory: fresh zeros, or a piece of a file mapped without being read.
//
// Bit i is word[i / 64] >> (i % 64). Arrays of 4 MiB and more ask for huge pages (a random access then costs
// one miss instead of two). A mapped array is private: reading costs nothing up front, writing copies the
// pages written and never reaches the file. Bits past the end of the array are zero.
//
// Thread safety: const calls from many threads; set_concurrently() from many threads together with itself
// and with test(); anything else needs exclusion.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "posy/result.hpp"

namespace posy {

class bit_array {
  public:
    static constexpr std::uint64_t alignment = 64;  // of the words in memory, in bytes: a cache line

    // All zeros. An error when the memory cannot be allocated, or when it is more than this machine has.
    static result<bit_array> make(std::uint64_t bits);
    // The bits at `offset` (a multiple of the alignment) of an open file; the descriptor may be closed
    // afterwards. The caller has checked that the file is long enough.
    static result<bit_array> map(int file, std::uint64_t offset, std::uint64_t bits);

    std::uint64_t size() const { return bits_; }
    std::span<std::uint64_t> words() { return {words_.get(), word_count(bits_)}; }
    std::span<const std::uint64_t> words() const { return {words_.get(), word_count(bits_)}; }

    bool test(std::uint64_t i) const {
        // Relaxed, so that it may run beside set_concurrently(); the instruction is that of a plain load.
        return __atomic_load_n(&words_[i / 64], __ATOMIC_RELAXED) >> i % 64 & 1;
    }
    void set(std::uint64_t i) { words_[i / 64] |= bit(i); }
    void flip(std::uint64_t i) { words_[i / 64] ^= bit(i); }
    void set_concurrently(std::uint64_t i) {
        const std::atomic_ref word(words_[i / 64]);
        // In a filter that is nearly full most bits are set already; testing first keeps the cache line
        // shared.
        if (!(word.load(std::memory_order_relaxed) & bit(i)))
            word.fetch_or(bit(i), std::memory_order_relaxed);
    }
    void prefetch(std::uint64_t i) const { __builtin_prefetch(&words_[i / 64]); }

    std::uint64_t ones() const;
    // This array becomes its union (or), intersection (and) or difference (exclusive or) with another of the
    // same size, and its ones are counted in the same pass over memory.
    std::uint64_t unite(const bit_array&);
    std::uint64_t intersect(const bit_array&);
    std::uint64_t exclude(const bit_array&);
    void clear();
    result<bit_array> clone() const;
    // The kind of pages under the array. Large arrays request huge pages; the system may refuse.
    struct page_use {
        bool mapped_file = false, asked_for_huge = false;
        std::uint64_t huge_bytes = 0;  // in huge pages right now
    };
    page_use pages() const;

    static std::uint64_t word_count(std::uint64_t bits) { return (bits + 63) / 64; }

    friend bool operator==(const bit_array& a, const bit_array& b);

  private:
    using memory = std::unique_ptr<std::uint64_t[], std::function<void(std::uint64_t*)>>;
    bit_array(memory words, std::uint64_t bits, page_use asked)
        : words_(std::move(words)), bits_(bits), asked_(asked) {}
    static std::uint64_t bit(std::uint64_t i) { return std::uint64_t{1} << i % 64; }

    memory words_;
    std::uint64_t bits_;
    page_use asked_;
};

// The ones that a | b, a & b and a ^ b would have. Precondition: equal sizes.
std::uint64_t ones_of_union(const bit_array& a, const bit_array& b);
std::uint64_t ones_of_intersection(const bit_array& a, const bit_array& b);
std::uint64_t ones_of_difference(const bit_array& a, const bit_array& b);

}  // namespace posy
