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

#include "posy/cache/cache_control.hpp"
#include "posy/cache/fields.hpp"
#include "posy/cache/http_date.hpp"
#include "posy/cache/variant.hpp"
#include "posy/digest.hpp"

namespace posy::cache {

// When the request was sent, and when the response's head came (RFC 9111, 4.2.3).
struct exchange_times {
    seconds requested = 0, received = 0;
};

// What a store knows an object by.
struct label {
    std::string url;  // normal (normal_url)
    cache::variant variant;
    seconds received = 0;    // when it came, or was last freshened
    std::uint64_t size = 0;  // bytes, against a store's budget
};

// The 128-bit name of a variant of a URL: of its file on disk, of its trace in the eviction queues. Under a
// secret hash, so that nobody can make two of one name.
digest name_of(const label&, const hasher&);

// What a stored response costs beyond its strings: pointers, list and table nodes, allocator rounding.
inline constexpr std::uint64_t stored_overhead = 512;

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
// which is the body, the wire head twice (it is there as fields, too), the URL twice, the secondary key, and
// stored_overhead.
stored completed(stored_response parts);

// A head as bytes, with line ends, without the empty line at its end. CR, LF and NUL inside a value become
// spaces (RFC 9110, 5.5): no value can end its line early.
std::string wire_text(const response_head&);

}  // namespace posy::cache
