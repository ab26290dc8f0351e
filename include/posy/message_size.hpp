// The size of a message before it exists: the expected size of its payload after coding, and the exact size
// of the frame around it (docs/format.md).
//
// Frames and raw payloads are exact. Coded payloads are within a byte or two for small arrays and 0.03 % for
// large ones, apart from the random variation in the number of ones.
#pragma once

#include <cstdint>

#include "posy/codec.hpp"
#include "posy/growing_filter.hpp"
#include "posy/plan.hpp"

namespace posy {

struct message_size {
    codec_id codec = codec_id::raw;
    std::uint64_t payload = 0;  // bytes
    std::uint64_t frame = 0;    // bytes: header, padding of a raw array, checksum

    std::uint64_t total() const { return payload + frame; }
};

// A filter of this plan with all its items.
message_size expected_message(const plan&, coding);
// The same as a counting filter.
message_size expected_message(const plan&, const counting_plan&, coding);
// One update. Precondition: the plan has delta_bits.
message_size expected_delta(const plan&);
// A growing filter that has been shrunk.
message_size expected_message(const growing_filter::forecast&);
// A sealed filter or map whose payload has this many bits.
message_size expected_sealed_message(double payload_bits);

}  // namespace posy
