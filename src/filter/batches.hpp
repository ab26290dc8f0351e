// Batches in windows: while one digest is processed, the lines of the one `window` places ahead are
// prefetched.
//
// Digests are processed in place. Keys are hashed piece by piece into a buffer that stays in the first cache;
// its last window moves to the front, so the stream of requests never breaks between pieces.
#pragma once

#include <algorithm>
#include <array>

#include "kernels.hpp"

namespace posy::kernels {

inline constexpr std::size_t piece = 256;

// Calls fetch(later, count) and work(now, count, is there more after it?, index of the first) on all keys in
// order.
template <class Fetch, class Work>
void in_windows(const hasher&, std::span<const digest> digests, const Fetch& fetch, const Work& work) {
    const digest* all = digests.data();
    const std::size_t count = digests.size(), head = std::min(window, count), most = count - head;
    fetch(all, head);
    if (most != 0) work(all, most, true, 0);
    work(all + most, head, false, most);
}

template <class Key, class Fetch, class Work>
void in_windows(const hasher& hash, std::span<const Key> keys, const Fetch& fetch, const Work& work) {
    std::array<digest, window + piece> buffer;
    const auto load = [&](std::size_t from, std::size_t count, digest* to) {
        hash(keys.subspan(from, count), std::span(to, count));
    };
    const std::size_t head = std::min(window, keys.size());
    load(0, head, buffer.data());
    fetch(buffer.data(), head);
    std::size_t done = 0;
    while (done + head < keys.size()) {
        const std::size_t count = std::min(piece, keys.size() - done - head);
        load(done + head, count, buffer.data() + head);
        work(buffer.data(), count, true, done);
        std::copy_n(buffer.data() + count, head, buffer.data());
        done += count;
    }
    work(buffer.data(), head, false, done);
}

// The same for work that does without fetch(). Short pieces let the processor hash the next one while it
// waits for the memory of this one (measured in 1.2 MB: 2.1 ns per key with 128, 2.5 with 512); work with
// queues of its own is faster with long pieces.
inline constexpr std::size_t short_piece = 128, long_piece = 2048;

template <std::size_t Piece, class Work>
void in_pieces(const hasher&, std::span<const digest> digests, const Work& work) {
    work(digests.data(), digests.size(), false, 0);
}

template <std::size_t Piece, class Key, class Work>
void in_pieces(const hasher& hash, std::span<const Key> keys, const Work& work) {
    std::array<digest, Piece> buffer;
    for (std::size_t at = 0; at < keys.size(); at += Piece) {
        const std::size_t count = std::min(Piece, keys.size() - at);
        hash(keys.subspan(at, count), std::span(buffer).first(count));
        work(buffer.data(), count, false, at);
    }
}

}  // namespace posy::kernels
