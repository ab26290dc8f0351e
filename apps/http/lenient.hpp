// Heads of answers that are nearly HTTP, made so (RFC 9112, 2.2, 4, 5.1 and 5.2).
//
// Old and small servers put blanks before a colon, leave the reason out with the space before it, fold long
// values, or end all lines with a bare line feed. A proxy is asked to mend these in answers, and must not in
// requests: there two readings of one message are an attack. What Beast's parser takes as it is stays
// untouched; what cannot be mended is left for it to refuse.
//
// Pure functions. Cost: one pass over the head; a copy only if there is something to mend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace posy::http {

// The length of the head that the bytes begin with, the empty line included; 0 if its end is not among them.
// Up to `seen` bytes there is none.
std::size_t head_length(std::string_view bytes, std::size_t seen = 0);

// Two ways to end a line, the first of them bare: beyond mending, whatever follows.
bool mixed_ends(std::string_view bytes);

// A whole head as a strict parser wants it; nothing if it is fit already, or beyond mending.
std::optional<std::string> mended(std::string_view head);

}  // namespace posy::http
