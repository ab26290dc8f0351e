// encode_bytes and decode_bytes with a choice of cores and instructions. What comes out is the same.
#pragma once

#include "codec.hpp"
#include "how.hpp"

namespace posy::codec {

void encode_bytes(bit_view, std::vector<std::byte>& out, const how&);
result<void> decode_bytes(byte_view, bit_room, const how&);

}  // namespace posy::codec
