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
        0};               // Prefer: hold the request open until there is news, but no longer than this
    bool stream = false;  // A-IM: one answer may carry all news, with a sign of life after each `wait`
};
void add_to(http_cache::fields&, const question&);
question question_of(const http_cache::fields&);

// 200, 226 or 304, with Date (seconds since 1970) and ETag; the length of the body is left to the caller.
http::response_head head_of(const publisher::reply&, std::int64_t time_of_day);

// A stream: 226 with a chunked body that does not end, messages one after the other, and between them signs
// of life. Its ETag is what the publisher has at its beginning; chunks end anywhere.
http::response_head stream_head(const edition&, std::int64_t time_of_day);
bool is_stream(const http::response_head&);
inline constexpr char sign_of_life = '\n';  // no message starts with it
// A piece of the body as it goes over the wire, in two parts around the bytes themselves.
std::string chunk_start(std::size_t bytes);
inline constexpr std::string_view chunk_end = "\r\n", stream_end = "0\r\n\r\n";

// The messages of a stream, from pieces as they arrive. Cost: holds the message that is arriving, of at most
// `most` bytes, and a piece. Thread safety: none.
class stream_messages {
  public:
    explicit stream_messages(std::uint64_t most) : most_(most) {}

    void add(std::string_view piece) { pending_ += piece; }
    // The next whole message, or sign of life, which is an empty one; nothing until more has been added.
    // Throws std::runtime_error where no message starts or it is too long: nothing after it can be found.
    std::optional<std::string> next();
    // A message has begun and not ended.
    bool inside() const { return !pending_.empty(); }

  private:
    std::uint64_t most_;
    std::string pending_;
};

}  // namespace posy::node
