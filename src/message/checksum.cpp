#include <xxhash.h>

#include "frame.hpp"

namespace posy::frame {

checksum::checksum() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
checksum::~checksum() { XXH3_freeState(state_); }
void checksum::add(byte_view bytes) { XXH3_64bits_update(state_, bytes.data(), bytes.size()); }
std::uint32_t checksum::value() const { return static_cast<std::uint32_t>(XXH3_64bits_digest(state_)); }

}  // namespace posy::frame
