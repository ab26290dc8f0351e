// Blocks are worked on by many threads in any order; what is done in turn happens in the order of the input,
// so that a command prints, and counts, the same however many threads there are.
//
// Invariant: blocks are handed out in order, so the one whose turn it is is always in the hands of a thread.
// A thread that fails gives up for all: the others would wait for its turn.
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
