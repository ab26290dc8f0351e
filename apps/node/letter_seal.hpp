// How a batch of letters proves that its sender has the token of the overlay, without showing the token.
//
// Letters go to addresses that other members name, so the token itself must not go with them. Instead the
// request says who writes to whom and when, and what the SHA-256 of the body is, all under an HMAC-SHA256
// with the token as its key:
//
//   Authorization: Posy-Letter TIME BODY MAC      milliseconds since 1970; two sums in hexadecimal
//   Posy-From: http://10.0.0.1:3130               also without a token
//   Posy-To: http://10.0.0.2:3130
//
// The head is checked before the body is read, then the body against its sum. That a batch is not repeated
// within the time of validity is up to seal_times.hpp. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "posy/bytes.hpp"
#include "posy/http_cache/fields.hpp"

namespace posy::node {

inline constexpr std::string_view letters_path = "/overlay";

struct letter_seal {
    std::uint64_t time = 0;
    std::string body_sum;

    static constexpr std::uint64_t validity = 300'000;  // ms, before and after
    bool valid_at(std::uint64_t now) const { return now < time + validity && time < now + validity; }
    bool fits(std::string_view body) const;
};

// The fields of a batch. Without a token there is no seal.
void add_to(http_cache::fields&, std::string_view token, std::string_view from, std::string_view to,
            std::uint64_t now, std::string_view body);
// The seal, if there is one and it was made with the token.
std::optional<letter_seal> seal_of(const http_cache::fields&, std::string_view token);

}  // namespace posy::node
