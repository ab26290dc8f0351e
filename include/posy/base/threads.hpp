// Work divided among threads.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <thread>
#include <vector>

namespace posy::base {

// Threads that are started while this lives get no signals. These belong to the program, which may be a
// database server whose handlers expect to run on its own thread.
class signals_kept_away {
  public:
    signals_kept_away() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_kept_away() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_kept_away(const signals_kept_away&) = delete;
    signals_kept_away& operator=(const signals_kept_away&) = delete;

  private:
    sigset_t before_;
};

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
    {
        const signals_kept_away starting;
        for (unsigned t = 1; t < threads && t < count; ++t) others.emplace_back(take);
    }
    take();
}

}  // namespace posy::base
