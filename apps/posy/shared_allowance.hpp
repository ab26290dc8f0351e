// The memory of many messages that come together.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tool.hpp"

namespace posy::tool {

// What the messages of one input take beyond what their bytes pay for: together no more than one message may.
class shared_allowance {
  public:
    explicit shared_allowance(const read_limits& limits) : limits_(limits) {}

    void charge(const message& m, const std::string& name) {
        const std::uint64_t memory = memory_of(m.body);
        const std::uint64_t paid = std::max<std::uint64_t>(limits_.expansion, 1) * m.size;
        used_ += memory - std::min(memory, paid);
        ++messages_;
        if (used_ <= limits_.believed_bytes) return;
        throw failure(fmt::format(
            "{}: its first {} messages take {} bytes of memory more than their bytes account for, and {} are "
            "allowed for one input; raise it if you trust the sender (--max-array)",
            name, messages_, used_, limits_.believed_bytes));
    }

  private:
    read_limits limits_;
    std::uint64_t used_ = 0, messages_ = 0;
};

}  // namespace posy::tool
