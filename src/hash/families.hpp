// The hash families behind posy::hasher, one file each. All are pure: key bytes and seed in, digest out.
#pragma once

#include "posy/digest.hpp"

namespace posy::hash {

digest siphash(byte_view key, hash_seed seed);
digest md5(byte_view key);
bool md5_available();
digest multiply_shift(byte_view key, std::uint64_t seed);

}  // namespace posy::hash
