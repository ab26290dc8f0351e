// Parts of a stored response for a client that asks for some (RFC 9110, 14 and 13.1.5).
//
// One part is a 206 with Content-Range, several are multipart/byteranges. Parts that overlap or nearly touch
// are sent as one, in the order of the content; so no request makes an answer longer than the content and 200
// bytes for each of at most most_ranges parts. What is malformed, in another unit, or more than that is
// ignored: the whole answer is right then, too. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/http_cache/body_parts.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

inline constexpr std::size_t most_ranges = 32;
inline constexpr std::uint64_t least_gap = 80;  // between two parts: about what the head of a part takes

// The parts of a content of `size` bytes that the value of a Range field asks for. Nothing: the field is to
// be ignored. An empty list: none of it is there, 416.
std::optional<std::vector<byte_range>> parse_ranges(std::string_view value, std::uint64_t size);

// Does If-Range, if there is one, allow parts? An entity tag must be the stored one and strong; a date must
// be Last-Modified to the letter, and that a minute older than Date.
bool range_applies(const request_head&, const stored_response&);

// The answer in pieces: the head, and for each part what goes before it and where it is in the stored body.
struct partial_answer {
    response_head head;  // 206 or 416
    struct part {
        std::string before;
        byte_range at;
    };
    std::vector<part> parts;
    std::string behind;
    std::uint64_t bytes = 0;  // of the content, everything included
};

// Nothing when the stored response is to be given whole: no GET, no Range, one that is to be ignored, or a
// stored status other than 200.
std::optional<partial_answer> partial_of(const request_head&, const stored_response&);

}  // namespace posy::http_cache
