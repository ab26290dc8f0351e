// What one of two reconciling peers sends to the other (posy/reconcile/session.hpp): a payload and its kind.
//
// It is a message like any other, so it has a magic number, a size limit and a checksum. The session
// validates the payload (docs/reconcile.md). Cost: a copy of the payload.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/read_limits.hpp"
#include "posy/result.hpp"

namespace posy::reconcile {

// The numbers are on the wire.
enum class kind : std::uint8_t {
    sketch = 1,    // difference_sketch: the opening of the exact way
    symbols = 2,   // symbol_run
    more = 3,      // a varint: send symbols up to this one, or with 0 the rest of the list
    list = 4,      // set_part: elements, where that is shorter than symbols
    filter = 5,    // a Bloom filter as a message of its own (docs/format.md)
    tree = 6,      // reconciliation_tree
    offer = 7,     // digest_set: what the receiver lacks
    want = 8,      // digest_set: send the texts of these
    texts = 9,     // key_texts
    refusal = 10,  // text: why the sender has given up
};

constexpr std::string_view name_of(kind member) {
    switch (member) {
        case kind::sketch:
            return "sketch";
        case kind::symbols:
            return "symbols";
        case kind::more:
            return "more";
        case kind::list:
            return "list";
        case kind::filter:
            return "filter";
        case kind::tree:
            return "tree";
        case kind::offer:
            return "offer";
        case kind::want:
            return "want";
        case kind::texts:
            return "texts";
        case kind::refusal:
            return "refusal";
    }
    return {};
}

class envelope {
  public:
    // `hash` made all digests in the payload.
    envelope(reconcile::kind what, const hasher& hash, byte_view payload)
        : kind_(what), hash_(hash), payload_(payload.begin(), payload.end()) {}

    reconcile::kind kind() const { return kind_; }
    const hasher& hash() const { return hash_; }
    byte_view payload() const { return payload_; }

    void append_to(std::vector<std::byte>& out) const;
    static result<envelope> parse(const hasher& hash, byte_view bytes, const read_limits& = {});

  private:
    reconcile::kind kind_;
    hasher hash_;
    std::vector<std::byte> payload_;
};

}  // namespace posy::reconcile
