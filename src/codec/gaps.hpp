// encode_gaps and decode_gaps with a choice of cores. What comes out is the same.
#pragma once

#include "codec.hpp"
#include "how.hpp"

namespace posy::codec {

void encode_gaps(bit_view, std::vector<std::byte>& out, const how&);
result<void> decode_gaps(byte_view, bit_room, const how&);

}  // namespace posy::codec
