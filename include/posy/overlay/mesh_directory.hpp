// Who has X: the summaries of all peers, asked at once (Summary Cache; Broder & Mitzenmacher 2004, 4).
//
// Every peer is known by name and by the last summary that could be put together from its messages: a
// publisher's filter followed by deltas, or a digest of Squid. A message that makes no sense changes nothing.
// A key costs one hash for each family and seed in use, however many peers share it, and a lookup for each
// peer.
//
// Time is handed in, in milliseconds, and messages are bytes: simulation and daemon run the same code.
// Thread safety: all calls from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "posy/dialect/squid_digest.hpp"
#include "posy/subscriber.hpp"

namespace posy {

class mesh_directory {
  public:
    explicit mesh_directory(const read_limits& limits = {}) : limits_(limits) {}

    // What a publisher sent. A peer that was not known is from now on.
    reception receive(const std::string& peer, byte_view message, std::uint64_t now);
    // What a Squid sent; the summary held until now stays when it is not a digest.
    result<void> receive_squid(const std::string& peer, byte_view digest, std::uint64_t now);
    // The peer says that nothing has changed.
    void confirm(const std::string& peer, std::uint64_t now);
    void forget(const std::string& peer);

    // The generation of a publisher to ask for a delta from; nothing when only the whole will do.
    std::optional<std::uint64_t> have(const std::string& peer) const;

    struct summary {
        std::string peer;
        std::uint64_t age = 0;               // since the last message that was believed
        std::optional<std::uint64_t> items;  // that it stands for
        double false_positive_rate = 0;
        std::uint64_t bytes = 0;  // in memory
        std::optional<std::uint64_t> generation;
    };
    std::vector<summary> summaries(std::uint64_t now) const;

    // The peers that may have the key, in the order of their names; others certainly did not when they spoke.
    struct holder {
        std::string peer;
        std::uint64_t age;
    };
    std::vector<holder> who(std::string_view key, std::uint64_t now) const;

  private:
    struct squid {
        squid_digest digest;
        std::uint64_t at;
    };
    using entry = std::variant<subscriber, squid>;

    read_limits limits_;
    mutable std::shared_mutex mutex_;
    std::map<std::string, entry> peers_;
};

}  // namespace posy
