// Letters on their way from one machine to another: many in one body, with the addresses of the nodes that
// they name.
//
//   addresses   number (2 bytes), then for each its length (1 byte) and its text
//   letters     until the end: length (4 bytes), then the message of posy/overlay/mail.hpp
//
// Numbers are little-endian. A batch that is damaged, or beyond the limits, is refused as a whole. Cost:
// reading copies the addresses and refers to the letters. Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "posy/overlay/mail.hpp"
#include "posy/result.hpp"

namespace posy::overlay {

struct batch_limits {
    std::size_t bytes = std::size_t{16} << 20;
    std::size_t letters = 65'536;
    std::size_t addresses = 1024;
    static constexpr std::size_t longest_address = 255;
};

struct letter_batch {
    std::vector<std::string> addresses;
    std::vector<byte_view> letters;  // parts of the bytes that were read
};

// Precondition: no address is longer than the longest; no more than 65,535 of them.
std::vector<std::byte> write_batch(std::span<const std::string> addresses,
                                   std::span<const byte_view> letters);
result<letter_batch> read_batch(byte_view, const batch_limits& = {});

// The nodes that a message names and its reader may have to write to. Nothing for a message that is damaged.
std::vector<node_id> named_in_tree(byte_view message);
std::vector<node_id> named_in_attenuated(byte_view message);
std::vector<node_id> named_in_groups(byte_view message);

}  // namespace posy::overlay
