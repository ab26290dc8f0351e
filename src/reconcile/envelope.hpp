// The envelope around a payload between two reconciling processes, and the only place that knows it:
//
//   length       u32       of all that follows
//   kind         u8        what the payload is
//   hash family  u8        under which all digests in it were made
//   seed         varint    low half, then varint high half
//   payload
//
// There is no checksum: pipes and connections keep bytes as they are, and what is wrong for other reasons is
// noticed by the parsers, the checksums of the coded symbols and, at the end, the digests of the texts.
#pragma once

#include <optional>
#include <vector>

#include "posy/message.hpp"

namespace posy::reconcile {

enum class kind : std::uint8_t {
    sketch = 1,      // difference_sketch: the opening of the exact way
    symbols = 2,     // symbol_run
    more = 3,        // a varint: send symbols up to this one
    everything = 4,  // digest_set: the whole set, where that is shorter than symbols
    filter = 5,      // a Bloom filter as a message of its own (docs/format.md)
    tree = 6,        // reconciliation_tree
    offer = 7,       // digest_set: what the receiver lacks
    want = 8,        // digest_set: send the texts of these
    texts = 9,       // key_texts
    refusal = 10,    // text: why the sender has given up
};

struct envelope {
    reconcile::kind kind;
    hasher hash;
    byte_view payload;  // in the message that was opened
};

std::vector<std::byte> seal(kind, const hasher&, byte_view payload);
// Precondition of neither: any bytes may be asked about. Offsets count from the first byte of the message.
result<envelope> open_envelope(byte_view message);

// One message from a descriptor; nothing at its end. Memory is taken as the bytes arrive, up to the limit.
result<std::optional<std::vector<std::byte>>> read_message(int file, const read_limits&);

}  // namespace posy::reconcile
