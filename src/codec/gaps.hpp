// encode_gaps and decode_gaps with a choice of cores. The result is the same.
#pragma once

#include "base/how.hpp"
#include "codec.hpp"

namespace posy::codec {

void encode_gaps(bit_view, std::vector<std::byte>& out, const base::how&);
result<void> decode_gaps(byte_view, bit_room, const base::how&);

}  // namespace posy::codec
