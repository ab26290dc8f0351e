// A response as the cache keeps it: an immutable value, shared by pointer between the stores and the
// connections that are sending it.
//
// Everything that a hit needs is computed once, here: directives, lifetime, age on arrival, and the head as
// it goes over the wire. A hit is then wire_head, a few lines of the moment (Age, Via, Cache-Status), an
// empty line and the body, in one writev. Freshening by a 304 makes a new value that shares the body.
// Thread safety: as of any constant.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posy/digest.hpp"
#include "posy/http_cache/body_parts.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/http_date.hpp"
#include "posy/http_cache/variant.hpp"

namespace posy::http_cache {

// The order of exchanges and changes within this process, finer than any clock: each moment is later than all
// before it. 0 is before all of them.
using moment = std::uint64_t;
moment next_moment();

// When the request was sent, and when the response's head came (RFC 9111, 4.2.3), by a clock that never runs
// backwards. Ages are counted by it; dates from the origin are compared with the time of day.
struct exchange_times {
    seconds requested = 0, received = 0;
    seconds ahead = 0;               // of the time of day, after that was set back
    moment asked = 0, answered = 0;  // the same two events among all others; 0: now
    seconds time_of_day() const { return received - ahead; }
};

// How a store identifies an object.
struct label {
    std::string url;  // normal (normal_url)
    http_cache::variant variant;
    seconds received = 0;    // when it came, or was last freshened
    std::uint64_t size = 0;  // bytes, against a store's budget
    // Of its exchange; after a 304, which says nothing new about the body, both are when that was asked for.
    // Not on disk: what an earlier process stored is older than everything.
    moment asked = 0, answered = 0;
};

// The 128-bit name of a variant of a URL: of its file on disk, of its trace in the eviction queues. Made with
// a secret hash, so that two objects cannot be made to have the same name.
digest name_of(const label&, const hasher&);

// What a stored response costs beyond its texts: itself (376 bytes, with its count), its place in table and
// queues (176), the trace it leaves there (80), its share of the disk's table (80) and of the summary (64 to
// 256), and what the allocator makes of it all.
inline constexpr std::uint64_t stored_overhead = 1024;

// What a head costs in memory: its fields one by one, their texts as the allocator rounds them, all of it
// once more as it goes over the wire; the URL, which is the key of up to three tables; and stored_overhead.
std::uint64_t head_cost(const response_head&, std::string_view url);

struct stored_response : label {
    response_head head;  // no hop-by-hop field, no Age, a Date, the Content-Length of the body
    std::shared_ptr<const std::string> body;  // never null; empty if there are parts
    // Not null: only these are held of the body (partial.hpp). The head is that of the whole answer.
    std::shared_ptr<const body_parts> parts;
    seconds initial_age = 0;  // at `received`
    seconds lifetime = 0;
    response_directives directives;
    // "HTTP/1.1 200 OK\r\nDate: …\r\n…": the status line and every field of `head`, each with its line end,
    // but not the empty line. Via and Cache-Status of those before us are in it: ours follow as further
    // lines, which append to the same lists.
    std::string wire_head;

    seconds age(seconds now) const;
    // Seconds of freshness left; 0 or less: stale, by how much.
    seconds ttl(seconds now) const { return lifetime - age(now); }
    std::uint64_t length() const { return parts ? parts->length() : body->size(); }  // of the whole body
    // The bytes of a range of the body, which must be here.
    std::vector<std::string_view> slices(const byte_range& at) const {
        if (parts) return parts->slices(at);
        return {std::string_view(*body).substr(at.first, at.size())};
    }
    bool has_validator() const { return head.fields.has("ETag") || head.fields.has("Last-Modified"); }
};

using stored = std::shared_ptr<const stored_response>;

// Which of two answers shows the later state of the origin? If one exchange began after the other had its
// answer, that decides. If they overlap, then Date does; else a confirmation by 304 shows less than a new
// answer. Two new answers of the same second are equivalent when they are the same, and otherwise nobody can
// tell.
std::partial_ordering by_news(const stored_response& a, const stored_response& b);

// From an exchange: `response` may still have its hop-by-hop fields; the fields of no-cache="…" and
// private="…" are left out, and cookies unless it says public. Precondition: storable() said yes, the body is
// complete, the URL is normal.
stored make_stored(std::string url, const request_head& request, response_head response,
                   std::shared_ptr<const std::string> body, exchange_times times);

// The same body, or the parts of it, with another head, which an exchange brought.
stored with_head(const stored_response&, const request_head& request, response_head, exchange_times);

// The rest from url, variant, received, head, body or parts, and initial_age: directives, lifetime, wire_head
// and size, which is the body, the head_cost() (once for each text that parts lie in), and the variant.
stored completed(stored_response);

// A head as bytes, with line ends, without the empty line at its end. CR, LF and NUL inside a value become
// spaces (RFC 9110, 5.5): no value can end its line early.
std::string wire_text(const response_head&);

}  // namespace posy::http_cache
