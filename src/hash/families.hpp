// The hash families behind posy::hasher, one file each. All are pure: key bytes and seed in, digest out.
#pragma once

#include "posy/base/instructions.hpp"
#include "posy/digest.hpp"

namespace posy::hash {

// Many integer keys at once; as the hash of their byte form.
void xxh3_integers(std::span<const std::uint64_t> keys, std::span<digest> digests, std::uint64_t seed,
                   base::instruction_set = base::best_instruction_set());
void fold64_integers(std::span<const std::uint64_t> keys, std::span<digest> digests, std::uint64_t seed,
                     base::instruction_set = base::best_instruction_set());
digest siphash(byte_view key, hash_seed seed);
std::uint64_t siphash_64(byte_view key, hash_seed seed);  // the function with the shorter output
digest md5(byte_view key);
bool md5_available();
digest multiply_shift(byte_view key, std::uint64_t seed);

}  // namespace posy::hash
