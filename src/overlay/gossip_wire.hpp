// The messages of the gossip mesh. Parsing gives a valid message or an error, takes no more memory than a few
// times the bytes received, and trusts no count.
//
//   greeting  nonce, [hash of the directory], versions     begins an exchange; with a hash: compare
//   reply     nonce, which of these were known, versions   its answer
//   want      members and the editions held                asks for records
//   records   version, address, messages of a summary      the whole summary, or the deltas that lead to it
//   parts     32 hashes                                    the directories differ: these are mine
//   versions  mask of parts, versions                      what I have in the parts that differ; mask 0: the
//   answer
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "posy/overlay/gossip_directory.hpp"
#include "posy/result.hpp"

namespace posy::overlay::gossip {

enum class kind : std::uint8_t { greeting = 0x20, reply, want, records, parts, versions };

struct greeting {
    std::uint64_t nonce = 0;
    std::optional<std::uint64_t> hash{};
    std::vector<member_version> news{};
};
struct reply {
    std::uint64_t nonce = 0;
    bool equal = false;         // the directories, if the greeting compared them
    std::vector<bool> known{};  // one per version of the greeting
    std::vector<member_version> news{};
};
struct want {
    struct item {
        node_id id;
        std::optional<edition> held;
    };
    std::vector<item> items{};
};
struct record {
    member_version version;
    std::string address;
    std::vector<byte_view> messages;  // within the message that was parsed
};
struct records {
    std::vector<record> list{};
};
struct parts {
    std::array<std::uint64_t, gossip_directory::parts> hashes{};
};
struct versions {
    std::uint32_t mask = 0;
    std::vector<member_version> list{};
};
using message = std::variant<greeting, reply, want, records, parts, versions>;

std::vector<std::byte> write(const message&);
result<message> read(byte_view, const gossip_settings&);

// An incarnation or generation above this is refused: whoever it is about must be able to go beyond it.
inline constexpr std::uint64_t max_number = std::uint64_t{1} << 62;

}  // namespace posy::overlay::gossip
