// Blocks are prepared by many threads in any order and finished in the order of the input, so that a command
// prints and counts the same with any number of threads.
//
// Invariant: blocks are handed out in order, so some thread always has the one whose turn it is. A thread
// that fails ends the others, too: they would wait for its turn.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "keys.hpp"

namespace posy::tool {

// for_each_block in two steps: prepare(block) on any thread at any time; what it returns is called in turn,
// by one thread at a time.
template <class Prepare>
void for_each_block_in_order(const key_options& options, const std::string& title, Prepare prepare) {
    std::mutex mutex;
    std::condition_variable turn;
    std::uint64_t next = 0;
    bool failed = false;
    for_each_block(options, title, [&](const block& piece) {
        try {
            auto act = prepare(piece);
            std::unique_lock lock(mutex);
            turn.wait(lock, [&] { return next == piece.sequence || failed; });
            if (failed) return;
            act();
            ++next;
        } catch (...) {
            const std::lock_guard lock(mutex);
            failed = true;
            turn.notify_all();
            throw;
        }
        turn.notify_all();
    });
}

}  // namespace posy::tool
