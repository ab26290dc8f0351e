// The text of some keys, as it travels when a reconciliation is done: one for each digest that was asked for,
// in that order. Who asked hashes each and compares.
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
