// Who has X: the summaries of all peers, asked at once (Summary Cache; Broder & Mitzenmacher 2004, 4).
//
// Every peer is known by name and by the last summary that could be put together from its messages: a
// publisher's filter followed by deltas, or a digest of Squid. A message that makes no sense changes nothing.
// A key costs one hash for each family and seed in use, however many peers share it, and a lookup for each
// peer.
//
// Peers are strangers. All their summaries together stay within a budget of memory: each peer may have an
// equal share, and more while others leave room; whoever has more is forgotten first when others claim their
// share. A summary that says yes to nearly every key is held and not asked.
//
// Time is handed in, in milliseconds, and messages are bytes: simulation and daemon run the same code.
// Thread safety: all calls from any thread. A message is decoded by the caller of receive() without the lock
// that questions take, one message of a peer at a time: nobody waits for a message that takes long.
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

namespace posy {

class mesh_directory {
  public:
    // A summary is taken within the limits; all of them within the budget, in bytes of memory.
    explicit mesh_directory(const read_limits& limits = {}, std::uint64_t budget = ~std::uint64_t{0})
        : limits_(limits), budget_(budget) {}

    // How many peers share the budget, if not as many as are known.
    void expect(std::size_t peers);

    // What a publisher sent. A peer that was not known is from now on. `why`, if given, gets the reason when
    // it is damaged or too large.
    reception receive(const std::string& peer, byte_view message, std::uint64_t now,
                      sequence = sequence::ascending, std::string* why = nullptr);
    // What a Squid sent; the summary held until now stays when it is not a digest.
    result<void> receive_squid(const std::string& peer, byte_view digest, std::uint64_t now);
    // The peer says that nothing has changed.
    void confirm(const std::string& peer, std::uint64_t now);
    // What is held may not be the peer's: it stays in use until the next whole filter replaces it.
    void doubt(const std::string& peer);
    void forget(const std::string& peer);

    // The generation of a publisher to ask for a delta from, and its bits; nothing when only the whole will
    // do.
    std::optional<std::uint64_t> have(const std::string& peer) const;
    std::optional<edition> edition_of(const std::string& peer) const;

    struct summary {
        std::string peer;
        std::uint64_t age = 0;               // since the last message that was believed
        std::optional<std::uint64_t> items;  // that it stands for
        double false_positive_rate = 0;
        std::uint64_t bytes = 0;  // in memory
        std::optional<std::uint64_t> generation;
        bool absurd() const { return false_positive_rate > absurd_rate; }
    };
    std::vector<summary> summaries(std::uint64_t now) const;
    std::optional<summary> summary_of(const std::string& peer, std::uint64_t now) const;

    // A summary beyond this rate is not asked. Ours reach three quarters at most: a filter planned for a rate
    // of one half, the highest there is, that holds twice what it was planned for.
    static constexpr double absurd_rate = 0.76;

    // The peers that may have the key, in the order of their names; others certainly did not when they spoke,
    // but for those whose summaries are absurd.
    struct holder {
        std::string peer;
        std::uint64_t age;
    };
    std::vector<holder> who(std::string_view key, std::uint64_t now) const;

    struct memory {
        std::uint64_t used = 0, budget = 0;
        std::uint64_t evicted = 0;  // summaries forgotten because others claimed their share
    };
    memory memory_use() const;

  private:
    struct squid {
        squid_digest digest;
        std::uint64_t at;
    };
    // What is held of a peer: a subscriber without a filter holds nothing.
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
    std::size_t expected_ = 0;
    std::uint64_t evicted_ = 0;
    std::map<std::string, std::shared_ptr<entry>> peers_;
};

}  // namespace posy
