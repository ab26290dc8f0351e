// What a name server's answer says: addresses and how long they hold, or how long it holds that there are
// none. Bytes from the network; c-ares reads the addresses. Thread safety: pure functions.
#pragma once

#include <span>

#include "name_cache.hpp"

namespace posy::http {

enum class record { v4, v6 };

// `status` is that of c-ares, which has looked at the answer's code.
name_answer read_answer(record wanted, int status, std::span<const unsigned char> message);

// RFC 2308, 5: the lesser of the lifetime of the SOA record and its last number. Nothing if there is none.
std::optional<std::chrono::seconds> negative_lifetime(std::span<const unsigned char> message);

}  // namespace posy::http
