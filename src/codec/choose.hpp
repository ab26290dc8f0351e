// From a codec's number to its functions, and the choice of one.
#pragma once

#include "codec.hpp"
#include "posy/codec.hpp"

namespace posy::codec {

// The codec to try for these bits.
codec_id choose(bit_view, coding);

// Appends the coding of `bits`. Precondition: not raw, not counters.
void encode(codec_id, bit_view bits, std::vector<std::byte>& out);
result<void> decode(codec_id, byte_view in, bit_room out);

}  // namespace posy::codec
