// SHA-1 (FIPS 180-4): the hash by which lists of leaked passwords are published. Not for anything that has to
// resist collisions.
//
// Written here because a password is asked for through thousands of edits, and because nothing of them may
// stay behind in memory: OpenSSL's goes through an allocated context. The tests hold it against OpenSSL's.
// Cost: some 300 ns per 64 bytes, as OpenSSL's. Thread safety: a function of its argument.
#pragma once

#include <array>
#include <cstddef>

#include "posy/bytes.hpp"

namespace posy::hash {

using sha1_hash = std::array<std::byte, 20>;

// Wipes what it knew of the message.
sha1_hash sha1(byte_view message);

}  // namespace posy::hash
