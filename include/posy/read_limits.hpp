// How much memory a reader may use for bytes from any sender.
//
// A few bytes can announce an array of a hundred gigabytes. So the memory for a decoded message has three
// bounds: an amount that every message may use, however short; a multiple of the bytes received; and an
// absolute maximum. With the default values a message takes at most 64 MiB plus 64 times its own size in
// total: arrays of 62 MiB plus 32 times its size, and what a parser needs besides. Work is bounded along with
// memory: codings whose decoding time is out of proportion to their size are accepted only where our own
// writer uses them (docs/format.md, docs/security.md).
//
// Raw payloads in files are mapped and use none of it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace posy {

struct read_limits {
    std::uint64_t max_bytes = std::uint64_t{4} << 30;        // of the decoded arrays of a message
    std::uint64_t believed_bytes = std::uint64_t{62} << 20;  // any message may use this much
    std::uint64_t expansion = 32;                            // and this many bytes more per byte received

    // This many bytes, however few arrive: for input that the reader has asked for or trusts.
    static constexpr read_limits exactly(std::uint64_t bytes) { return {bytes, bytes, 0}; }
    // For a reader that already holds an array of this many bytes: another one of this size is believed.
    // Large arrays use huge pages, so a decoded array may take a part of a page more than one mapped from a
    // file.
    constexpr read_limits holding(std::uint64_t bytes) const {
        constexpr std::uint64_t page = std::uint64_t{2} << 20;
        if (bytes >= 2 * page) bytes = (bytes + page - 1) / page * page;
        return {std::max(max_bytes, bytes), std::max(believed_bytes, bytes), expansion};
    }
    // The most memory for a message of `received` bytes.
    constexpr std::uint64_t most(std::uint64_t received) const {
        if (expansion != 0 && received > max_bytes / expansion) return max_bytes;
        return std::min(max_bytes, believed_bytes + std::min(max_bytes, expansion * received));
    }
};

}  // namespace posy
