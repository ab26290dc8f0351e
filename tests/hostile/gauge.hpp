// What a piece of work takes: processor time of all threads, and the most memory it held at one time.
//
// Memory is counted where it is asked for: operator new and delete are replaced (gauge.cpp), and
// aligned_alloc, free, mmap and munmap of the library are wrapped by the linker (CMakeLists.txt). A mapping
// counts as a whole, whether its pages are touched or not.
#pragma once

#include <cstdint>

namespace posy::hostile {

// Bytes held now, and the most since reset_peak().
std::int64_t bytes_held();
std::int64_t bytes_at_peak();
void reset_peak();

struct cost {
    double milliseconds = 0;
    double bytes = 0;
};

// Time by the clock of the processor: what others do on the machine does not count.
double processor_milliseconds();

template <class Work>
cost measure(Work work) {
    const std::int64_t before = bytes_held();
    reset_peak();
    const double start = processor_milliseconds();
    work();
    return {processor_milliseconds() - start, static_cast<double>(bytes_at_peak() - before)};
}

}  // namespace posy::hostile
