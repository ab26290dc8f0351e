// A response as the cache keeps it: an immutable value, shared by pointer between the stores and those who
// are sending it at the moment.
//
// Everything that a hit needs is computed once, here: directives, lifetime, age on arrival, and the head as
// it goes over the wire. A hit is then wire_head, a few lines of the moment (Age, Via, Cache-Status), an
// empty line and the body, in one writev. Freshening by a 304 makes a new value that shares the body.
// Thread safety: as of any constant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "posy/digest.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/http_date.hpp"
#include "posy/http_cache/variant.hpp"

namespace posy::http_cache {

// When the request was sent, and when the response's head came (RFC 9111, 4.2.3), by a clock that never runs
// backwards. Ages are counted by it; what the origin says of moments is compared with the time of day.
struct exchange_times {
    seconds requested = 0, received = 0;
    seconds ahead = 0;  // of the time of day, after that was set back
    seconds time_of_day() const { return received - ahead; }
};

// What a store knows an object by.
struct label {
    std::string url;  // normal (normal_url)
    http_cache::variant variant;
    seconds received = 0;    // when it came, or was last freshened
    std::uint64_t size = 0;  // bytes, against a store's budget
};

// The 128-bit name of a variant of a URL: of its file on disk, of its trace in the eviction queues. Under a
// secret hash, so that two of one name cannot be made on purpose.
digest name_of(const label&, const hasher&);

// What a stored response costs beyond its texts: itself (352 bytes), its place in table and queues (176), the
// trace it leaves there (80), its share of the disk's table (80) and of the summary (64 to 256), and what the
// allocator makes of it all.
inline constexpr std::uint64_t stored_overhead = 1024;

// What a head costs in memory: its fields one by one, their texts as the allocator rounds them, all of it
// once more as it goes over the wire; the URL, which is the key of up to three tables; and stored_overhead.
std::uint64_t head_cost(const response_head&, std::string_view url);

struct stored_response : label {
    response_head head;  // no hop-by-hop field, no Age, a Date, the Content-Length of the body
    std::shared_ptr<const std::string> body;  // never null
    seconds initial_age = 0;                  // at `received`
    seconds lifetime = 0;
    response_directives directives;
    // "HTTP/1.1 200 OK\r\nDate: …\r\n…": the status line and every field of `head`, each with its line end,
    // but not the empty line. Via and Cache-Status of those before us are in it: ours follow as further
    // lines, which append to the same lists.
    std::string wire_head;

    seconds age(seconds now) const;
    // Seconds of freshness left; 0 or less: stale, by how much.
    seconds ttl(seconds now) const { return lifetime - age(now); }
    bool has_validator() const { return head.fields.has("ETag") || head.fields.has("Last-Modified"); }
};

using stored = std::shared_ptr<const stored_response>;

// From an exchange: `response` may still have its hop-by-hop fields; the fields of no-cache="…" and
// private="…" are left out. Precondition: storable() said yes, the body is complete, the URL is normal.
stored make_stored(std::string url, const request_head& request, response_head response,
                   std::shared_ptr<const std::string> body, exchange_times times);

// The rest from url, variant, received, head, body and initial_age: directives, lifetime, wire_head and size,
// which is the body, the head_cost(), and the variant.
stored completed(stored_response parts);

// A head as bytes, with line ends, without the empty line at its end. CR, LF and NUL inside a value become
// spaces (RFC 9110, 5.5): no value can end its line early.
std::string wire_text(const response_head&);

}  // namespace posy::http_cache
