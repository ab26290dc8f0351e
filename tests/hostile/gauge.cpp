#include "gauge.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <new>

// What the linker took away from the library (-Wl,--wrap), and what is done instead, below.
extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void* memory);
void* __real_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void* at, std::size_t size);
}

namespace {

std::atomic<std::int64_t> held{0}, peak{0};

void add(std::int64_t bytes) {
    const std::int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (now > peak.load(std::memory_order_relaxed)) peak.store(now, std::memory_order_relaxed);
}

std::int64_t usable(void* memory) { return static_cast<std::int64_t>(malloc_usable_size(memory)); }

void* counted(void* memory) {
    if (!memory) throw std::bad_alloc();
    add(usable(memory));
    return memory;
}

void release(void* memory) {
    if (!memory) return;
    add(-usable(memory));
    __real_free(memory);
}

}  // namespace

namespace posy::hostile {

std::int64_t bytes_held() { return held.load(std::memory_order_relaxed); }
std::int64_t bytes_at_peak() { return peak.load(std::memory_order_relaxed); }
void reset_peak() { peak.store(bytes_held(), std::memory_order_relaxed); }

double processor_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace posy::hostile

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t to) {
    return counted(__real_aligned_alloc(static_cast<std::size_t>(to), size));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

extern "C" {
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    void* memory = __real_aligned_alloc(alignment, size);
    if (memory) add(usable(memory));
    return memory;
}
void __wrap_free(void* memory) {
    if (memory) add(-usable(memory));
    __real_free(memory);
}
void* __wrap_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
    void* memory = __real_mmap(at, size, protection, flags, file, offset);
    if (memory != MAP_FAILED) add(static_cast<std::int64_t>(size));
    return memory;
}
int __wrap_munmap(void* at, std::size_t size) {
    add(-static_cast<std::int64_t>(size));
    return __real_munmap(at, size);
}
}
