// What a reader takes memory for, whoever sent the bytes.
//
// A few bytes can announce an array of a hundred gigabytes. So what a message may take when it is decoded is
// bounded three times: by what any message is believed to need, however short; by a multiple of the bytes
// that have arrived; and by a number that nothing passes. With the default values a message takes at most 64
// MiB and 64 times its own size, all told: arrays of 62 MiB and 32 times its size, and what a parser needs
// beside them. Work is bounded along with memory: the codings that take a time out of proportion to their
// bytes are accepted only where our own writer uses them (docs/format.md, docs/security.md).
//
// Raw payloads in files are mapped and take none.
#pragma once

#include <algorithm>
#include <cstdint>

namespace posy {

struct read_limits {
    std::uint64_t max_bytes = std::uint64_t{4} << 30;        // of the decoded arrays of a message
    std::uint64_t believed_bytes = std::uint64_t{62} << 20;  // any message may ask for so much
    std::uint64_t expansion = 32;                            // and for so many bytes more per byte received

    // So many bytes, however few arrive: for what the reader has asked for or trusts.
    static constexpr read_limits exactly(std::uint64_t bytes) { return {bytes, bytes, 0}; }
    // Whoever holds an array of so many bytes believes that there is another like it. Large arrays are made
    // of huge pages: what is decoded may take a part of one more than what was mapped from a file.
    constexpr read_limits holding(std::uint64_t bytes) const {
        constexpr std::uint64_t page = std::uint64_t{2} << 20;
        if (bytes >= 2 * page) bytes = (bytes + page - 1) / page * page;
        return {std::max(max_bytes, bytes), std::max(believed_bytes, bytes), expansion};
    }
    // What a message of so many bytes may take.
    constexpr std::uint64_t most(std::uint64_t received) const {
        if (expansion != 0 && received > max_bytes / expansion) return max_bytes;
        return std::min(max_bytes, believed_bytes + std::min(max_bytes, expansion * received));
    }
};

}  // namespace posy
