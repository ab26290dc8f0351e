// A message opened but not yet decoded: the header is known and the checksum is right, but no memory has been
// allocated. A caller that does not want it, judging by the header, stops here.
#pragma once

#include "frame.hpp"
#include "posy/message.hpp"

namespace posy {

struct opened_frame {
    frame::header header;
    byte_view payload;       // in the bytes that were opened
    std::uint64_t size = 0;  // of the whole message
};

// The first message of `bytes`. Cost: a pass for the checksum.
result<opened_frame> open_frame(byte_view bytes);
result<message> read_body(const opened_frame&, const read_limits&);

}  // namespace posy
