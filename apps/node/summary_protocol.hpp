// A question for a summary and its answer, as HTTP carries them (docs/node.md): pure functions, so
// that node, follower and simulation ask and answer by the same code.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "posy/publisher.hpp"

namespace posy::node {

// "1a2b-6ba2bfe7" in quotes: the generation and the checksum of its bits, as in ETag and If-None-Match.
std::string tag_of(const edition&);

// What a tag names. "1a2b" without a checksum names whatever bits have that number.
struct held {
    std::uint64_t generation = 0;
    std::optional<std::uint32_t> checksum{};
};
std::optional<held> held_of(std::string_view tag);

struct question {
    static constexpr std::chrono::seconds longest_wait{300};

    std::string tag;      // If-None-Match: what the asker holds; empty: nothing
    bool deltas = false;  // A-IM: it understands deltas
    std::chrono::seconds wait{
        0};  // Prefer: hold the request open until there is news, but no longer than this
};
void add_to(http_cache::fields&, const question&);
question question_of(const http_cache::fields&);

// 200, 226 or 304, with Date (seconds since 1970) and ETag; the length of the body is left to the caller.
http::response_head head_of(const publisher::reply&, std::int64_t time_of_day);

}  // namespace posy::node
