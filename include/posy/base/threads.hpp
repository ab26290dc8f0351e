// Work divided among threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace posy::base {

// Calls work(i) for each i below `count`, on up to `threads` cores; returns when all are done.
template <class Work>
void for_each_index(std::size_t count, unsigned threads, const Work& work) {
    if (threads <= 1 || count <= 1) {
        for (std::size_t i = 0; i < count; ++i) work(i);
        return;
    }
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
    };
    std::vector<std::jthread> others;
    for (unsigned t = 1; t < threads && t < count; ++t) others.emplace_back(take);
    take();
}

}  // namespace posy::base
