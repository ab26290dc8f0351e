// Bytes as text: base64, with padding and without line breaks (RFC 4648, 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace posy::tool {

std::string base64(std::string_view bytes);
// Nothing if that is not what base64() makes of any bytes.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace posy::tool
