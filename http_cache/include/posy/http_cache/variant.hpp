// Vary: which of several responses of one URL answers a request (RFC 9111, 4.1).
//
// A variant is the fields that the response's Vary names together with what its request had there. Values are
// brought to one form first: lines of one name joined, white space around commas and at the ends removed;
// Accept-Encoding and Accept-Language in lower case and sorted, because neither case nor order means anything
// in them. A field that is missing matches only a missing one, not an empty one.
#pragma once

#include <string>
#include <vector>

#include "posy/http_cache/fields.hpp"

namespace posy::http_cache {

struct variant {
    std::vector<std::string> names{};  // nominated by Vary: lower case, sorted, each once
    std::string key{};                 // the secondary key: "name:value\n" or "name\n" (missing) for each

    // Does this response answer that request?
    bool matches(const fields& request) const;
    friend bool operator==(const variant&, const variant&) = default;
};

// Of a response to that request. Vary: * is not for here: such a response is not storable.
variant variant_of(const fields& request, const fields& response);

// Does Vary have a "*" among its members, so that no later request matches? More than most_vary_names count
// as one: comparing them would cost more than fetching.
inline constexpr std::size_t most_vary_names = 32;
bool varies_on_everything(const fields& response);

}  // namespace posy::http_cache
