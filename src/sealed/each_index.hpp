// for_each_index for work that allocates: a thread cannot throw, so bad_alloc is thrown after all threads are
// done.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include "base/how.hpp"

namespace posy::sealed {

template <class Work>
void each_index(std::size_t count, unsigned threads, const Work& work) {
    std::atomic<bool> no_memory = false;
    base::for_each_index(count, threads, [&](std::size_t i) {
        try {
            work(i);
        } catch (const std::bad_alloc&) {
            no_memory = true;
        }
    });
    if (no_memory) throw std::bad_alloc();
}

}  // namespace posy::sealed
