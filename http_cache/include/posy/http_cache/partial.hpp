// Answers of which only parts are stored: 206s, and 200s that broke off (RFC 9111, 3.3 and 3.4).
//
// A partial response is a stored_response with parts in place of a body, and the head that the whole would
// have. It is in the store under a key of its own, parts_key(): whoever looks for the URL finds wholes only.
// Parts are kept only with a strong validator, and combined only if it is the same. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "posy/http_cache/body_parts.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

// A normal URL has no fragment: no other object has such a key. url_of_key() leads back, and is the identity
// for the key of a whole object.
std::string parts_key(std::string_view url);
std::string_view url_of_key(std::string_view key);
inline bool is_parts_key(std::string_view key) { return url_of_key(key).size() != key.size(); }

// Which bytes a 206 carries, and of how many. Nothing if it carries several ranges, if it does not know the
// length of the whole, or if its fields contradict each other.
struct carried_range {
    byte_range at;
    std::uint64_t length = 0;  // of the whole
};
std::optional<carried_range> carried_by(const response_head&);

// The head that the whole answer would have; its length is left out.
response_head head_of_whole(response_head partial_content);

// Null without a strong validator. Precondition: storable(request, head_of_whole(…), …), the URL is normal.
stored make_partial(std::string_view url, const request_head& request, response_head response, body_parts,
                    exchange_times);

// Does the partial response answer the request: HEAD, or ranges that are all here? An If-Range must fit.
bool answers_in_part(const request_head&, const stored_response&);

// Are they of the same version, so that their parts may be combined?
bool same_version(const stored_response&, const stored_response&);
// The parts of both, and the older head updated by the newer one. Precondition: same_version().
stored combined(const stored_response& older, const stored_response& newer);
// The same with fewer texts (body_parts::pack()); null if there is no room.
stored packed(const stored_response&, const std::shared_ptr<room>&);
// The whole answer; null while some of it is missing, or if there is no room.
stored whole_of(const stored_response& partial, const std::shared_ptr<room>&);

}  // namespace posy::http_cache
