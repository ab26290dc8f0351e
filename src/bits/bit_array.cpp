#include "posy/bit_array.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "array_memory.hpp"
#include "posy/base/file.hpp"
#include "posy/base/machine.hpp"
#include "word_kernels.hpp"

namespace posy {
namespace {

using bits::huge_page;

error out_of_memory(std::uint64_t bytes) {
    return error::too_large("no memory for an array of " + std::to_string(bytes) +
                            " bytes; ask for fewer bits");
}

std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

result<bit_array> bit_array::make(std::uint64_t bits) {
    const std::uint64_t bytes = std::max(round_up(word_count(bits) * 8, alignment), alignment);
    // The kernel grants more address space than there is memory, and kills the process that uses it.
    if (bytes > base::usable_memory()) return out_of_memory(bytes);
    if (bytes < 2 * huge_page) {
        auto* words = static_cast<std::uint64_t*>(std::aligned_alloc(alignment, bytes));
        if (!words) return out_of_memory(bytes);
        std::memset(words, 0, bytes);
        return bit_array(memory(words, [](std::uint64_t* p) { std::free(p); }), bits, page_use{});
    }
    // Fresh pages are zero. Huge pages need an aligned piece: map a little more and give back what is around.
    const std::uint64_t mapped = round_up(bytes, huge_page) + huge_page;
    void* base =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return out_of_memory(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    auto* words = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(base) +
                                                   (round_up(address, huge_page) - address));
    const std::uint64_t before = round_up(address, huge_page) - address, kept = round_up(bytes, huge_page);
    if (before > 0) munmap(base, before);
    if (before < huge_page) munmap(reinterpret_cast<std::byte*>(words) + kept, huge_page - before);
    const bool huge = madvise(words, kept, MADV_HUGEPAGE) == 0;
    return bit_array(memory(words, [=](std::uint64_t* p) { munmap(p, kept); }), bits, page_use{false, huge});
}

result<bit_array> bit_array::map(int file, std::uint64_t offset, std::uint64_t bits) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t start = offset / page * page;
    const std::uint64_t length = offset - start + word_count(bits) * 8;
    void* base = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file,
                      static_cast<off_t>(start));
    if (base == MAP_FAILED) return posy::base::system_error("cannot map the file");
    auto* words = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(base) + (offset - start));
    return bit_array(memory(words, [=](std::uint64_t*) { munmap(base, length); }), bits,
                     page_use{true, false});
}

// From /proc/self/smaps: a line "from-to …" per mapping, followed by how much of it is in huge pages.
bit_array::page_use bit_array::pages() const {
    page_use use = asked_;
    if (!use.asked_for_huge) return use;
    const auto first = reinterpret_cast<std::uintptr_t>(words_.get()), last = first + words().size_bytes();
    std::ifstream maps("/proc/self/smaps");
    std::uintptr_t from = 0, to = 0;
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t kilobytes = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) continue;
        if (from < last && to > first && std::sscanf(line.c_str(), "AnonHugePages: %lu", &kilobytes) == 1)
            use.huge_bytes += kilobytes << 10;
    }
    use.huge_bytes = std::min(use.huge_bytes, round_up(last - first, huge_page));
    return use;
}

std::uint64_t bit_array::ones() const { return bits::count_ones(words()); }

std::uint64_t bit_array::unite(const bit_array& other) {
    return bits::combine(bits::operation::unite, words(), other.words());
}
std::uint64_t bit_array::intersect(const bit_array& other) {
    return bits::combine(bits::operation::intersect, words(), other.words());
}
std::uint64_t bit_array::exclude(const bit_array& other) {
    return bits::combine(bits::operation::exclude, words(), other.words());
}

void bit_array::clear() { std::ranges::fill(words(), 0); }

result<bit_array> bit_array::clone() const {
    auto copy = make(bits_);
    if (copy) std::ranges::copy(words(), copy->words().begin());
    return copy;
}

std::uint64_t ones_of_union(const bit_array& a, const bit_array& b) {
    return bits::count_ones_of(bits::operation::unite, a.words(), b.words());
}
std::uint64_t ones_of_intersection(const bit_array& a, const bit_array& b) {
    return bits::count_ones_of(bits::operation::intersect, a.words(), b.words());
}
std::uint64_t ones_of_difference(const bit_array& a, const bit_array& b) {
    return bits::count_ones_of(bits::operation::exclude, a.words(), b.words());
}

bool operator==(const bit_array& a, const bit_array& b) {
    return a.bits_ == b.bits_ && std::ranges::equal(a.words(), b.words());
}

}  // namespace posy
