// In which order nodes are tried that seem equally good: another for each object, so that no node bears the
// errors of the others.
#pragma once

#include <cstdint>

#include "base/mix.hpp"
#include "posy/digest.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::overlay {

inline std::uint64_t rank(const digest& key, node_id node) { return base::mix(key.high ^ base::mix(node)); }

}  // namespace posy::overlay
