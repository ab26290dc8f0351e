// What memory alone costs: a key picks one cache line, which is read (or read, changed and written), with a
// rolling window of prefetches in flight. No filter that touches a line a key can be faster in batches, so
// long as its pages are of the same size.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "peer.hpp"

namespace {

using namespace compare;

// Windows of 32 … 128 measure alike; 16 is slower by a tenth.
constexpr std::size_t window = 64;
constexpr std::uint64_t huge_page = 2 << 20;
__extension__ typedef unsigned __int128 u128;

template <int Advice>
class floor {
  public:
    floor(std::uint64_t keys, double bits_per_key)
        : lines_(static_cast<std::uint64_t>(static_cast<double>(keys) * bits_per_key / 512) + 1),
          mapped_((lines_ * 64 / huge_page + 2) * huge_page) {
        base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base_ == MAP_FAILED) throw std::bad_alloc();
        madvise(base_, mapped_, Advice);
        const auto address = reinterpret_cast<std::uintptr_t>(base_);
        array_ = reinterpret_cast<std::uint64_t*>((address + huge_page - 1) / huge_page * huge_page);
        std::memset(array_, 1, lines_ * 64);
    }
    floor(const floor&) = delete;
    ~floor() { munmap(base_, mapped_); }

    void insert(std::span<const integer> keys) {
        roll(keys, [&](std::size_t, std::uint64_t& word) { word |= 1; });
    }
    std::size_t contains(std::span<const integer> keys, std::span<bool> answers) const {
        std::size_t yes = 0;
        roll(keys, [&](std::size_t i, const std::uint64_t& word) {
            const bool odd = word & 1;
            answers[i] = odd;
            yes += odd;
        });
        return yes;
    }
    std::uint64_t bytes() const { return lines_ * 64; }

  private:
    template <class Touch>
    void roll(std::span<const integer> keys, Touch touch) const {
        // Copies, because a store could change the members for all the compiler knows (4.8 ns a key,
        // not 1.2).
        const auto line_of = [array = array_, lines = lines_](integer key) -> std::uint64_t& {
            return array[static_cast<std::uint64_t>(u128{key} * lines >> 64) * 8];
        };
        const std::size_t first = std::min(window, keys.size()), last = keys.size() - first;
        // By way of the second cache, which can wait for more lines at a time than the first: 4 ns a line in
        // 150 MB in place of 9.
        for (std::size_t i = 0; i < first; ++i) __builtin_prefetch(&line_of(keys[i]), 0, 2);
        const integer* key = keys.data();
        for (std::size_t i = 0; i < last; ++i, ++key) {
            // A pointer that moves: with the key at base + 8·index and the line changed in place, Zen 4 takes
            // 5.2 ns a key in place of 1.1, as if every load of a key waited for the store before it.
            asm("" : "+r"(key));
            __builtin_prefetch(&line_of(key[window]), 0, 2);
            touch(i, line_of(*key));
        }
        for (std::size_t i = last; i < keys.size(); ++i) touch(i, line_of(keys[i]));
    }

    std::uint64_t lines_;
    std::size_t mapped_;
    void* base_;
    std::uint64_t* array_;
};

const entry<integer, floor<MADV_NOHUGEPAGE>> small_pages{{.name = "floor, 4 KiB pages", .is_floor = true}};
const entry<integer, floor<MADV_HUGEPAGE>> huge_pages{{.name = "floor, 2 MiB pages", .is_floor = true}};

}  // namespace
