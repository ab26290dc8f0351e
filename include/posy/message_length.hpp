// Where a message of a stream ends, before all of it is there.
//
// Cost: the header is parsed. Thread safety: a pure function.
#pragma once

#include <cstdint>
#include <optional>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

namespace posy {

// The length of the message that starts with these bytes, as its header states it; nothing while the header
// is not complete. The checksum is not looked at: who reads the message does that.
result<std::optional<std::uint64_t>> message_length(byte_view bytes);

}  // namespace posy
