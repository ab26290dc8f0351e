// Which peers may have a key: the summaries of all peers, queried together (Summary Cache; Broder &
// Mitzenmacher 2004, 4).
//
// Every peer has a name and the last complete summary from its messages: a publisher's filter updated by
// deltas, or a Squid digest. An invalid message changes nothing. A query costs one hash for each family and
// seed in use, however many peers share it, and one lookup per peer.
//
// Peers are not trusted. All their summaries together stay within a memory budget. Each peer may have an
// equal share, and more while others leave room; when another peer claims its share, the summaries above
// their share are evicted first. A summary that says yes to nearly every key is held but not queried.
//
// Time is handed in, in milliseconds, and messages are bytes: simulation and daemon run the same code.
// Thread safety: all calls from any thread. The caller of receive() decodes the message without the lock that
// queries take, one message per peer at a time, so a slow message delays no query.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "posy/dialect/squid_digest.hpp"
#include "posy/subscriber.hpp"

namespace posy::overlay {

class mesh_directory {
  public:
    // `limits` apply to each summary; the budget, in bytes of memory, to all of them together.
    explicit mesh_directory(const read_limits& limits = {}, std::uint64_t budget = ~std::uint64_t{0})
        : limits_(limits), budget_(budget) {}

    // The number of peers that share the budget, if it is not the number of known peers.
    void share_among(std::size_t peers);

    // A message from a publisher. An unknown peer becomes known. `why`, if given, receives the reason when
    // the message is damaged or too large.
    reception receive(const std::string& peer, byte_view message, std::uint64_t now,
                      sequence = sequence::ascending, std::string* why = nullptr);
    // A message from a Squid. If it is not a digest, the present summary stays.
    result<void> receive_squid(const std::string& peer, byte_view digest, std::uint64_t now);
    // The peer reports that nothing has changed.
    void confirm(const std::string& peer, std::uint64_t now);
    // The summary may not be the peer's: it stays in use until the next whole filter replaces it.
    void doubt(const std::string& peer);
    void forget(const std::string& peer);

    // The generation to request a delta from, and its bits; nothing when only the whole filter will do.
    std::optional<std::uint64_t> have(const std::string& peer) const;
    std::optional<edition> edition_of(const std::string& peer) const;

    struct summary {
        std::string peer;
        std::uint64_t age = 0;               // since the last accepted message
        std::optional<std::uint64_t> items;  // that it stands for
        double false_positive_rate = 0;
        std::uint64_t bytes = 0;  // in memory
        std::optional<std::uint64_t> generation;
        bool absurd() const { return false_positive_rate > absurd_rate; }
    };
    std::vector<summary> summaries(std::uint64_t now) const;
    std::optional<summary> summary_of(const std::string& peer, std::uint64_t now) const;

    // A summary above this rate is not queried. Ours reach at most three quarters: a filter planned for a
    // rate of one half, the highest possible, that holds twice its planned items.
    static constexpr double absurd_rate = 0.76;

    // The peers that may have the key, in the order of their names. All others did not have it when they sent
    // their summary, except those whose summaries are above absurd_rate.
    struct holder {
        std::string peer;
        std::uint64_t age;
    };
    std::vector<holder> who(std::string_view key, std::uint64_t now) const;

    struct memory {
        std::uint64_t used = 0, budget = 0;
        std::uint64_t evicted = 0;  // summaries dropped because others claimed their share
    };
    memory memory_use() const;

  private:
    struct squid {
        squid_digest digest;
        std::uint64_t at;
    };
    // The state of a peer: a subscriber without a filter holds nothing.
    struct held {
        std::variant<subscriber, squid> summary;
        double false_positive_rate = 0;
        std::uint64_t bytes = 0;
    };
    struct entry {
        std::mutex receiving;  // a message of this peer is being decoded
        held now;              // under the directory's lock
    };

    std::shared_ptr<entry> entry_of(const std::string& peer);
    std::uint64_t used_by_others(const entry&) const;
    std::uint64_t share() const;
    std::uint64_t room_for(const entry&) const;
    bool swap_in(const std::string& peer, const std::shared_ptr<entry>&, held next);
    void evict_for(const entry&, std::uint64_t bytes, std::vector<held>& old);
    static std::optional<summary> describe(const std::string& peer, const held&, std::uint64_t now);

    read_limits limits_;
    std::uint64_t budget_;
    mutable std::shared_mutex mutex_;
    std::size_t sharers_ = 0;
    std::uint64_t evicted_ = 0;
    std::map<std::string, std::shared_ptr<entry>> peers_;
};

}  // namespace posy::overlay
