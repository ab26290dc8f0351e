// encode_bytes and decode_bytes with a choice of cores and instructions. The result is the same.
#pragma once

#include "base/how.hpp"
#include "codec.hpp"

namespace posy::codec {

void encode_bytes(bit_view, std::vector<std::byte>& out, const base::how&);
result<void> decode_bytes(byte_view, bit_room, const base::how&);

}  // namespace posy::codec
