// The texts of some keys, sent at the end of a reconciliation: one for each requested digest, in that order.
// The receiver hashes each text and compares.
#pragma once

#include <string>
#include <vector>

#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

struct key_texts {
    std::vector<std::string> texts{};

    void append_to(std::vector<std::byte>& out) const;
    static result<key_texts> parse(const hasher& hash, byte_view bytes, const read_limits& = {});
};

}  // namespace posy::reconcile
