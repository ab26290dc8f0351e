// The sure way to an object: its home, a node that every other one finds and that knows the holders. The
// nodes lie on a ring of 2^64 points (Chord; Stoica et al. 2001), the home of an object is the first node at
// or after its point, and a node knows those at distances 1, 2, 4 … from itself, so that a request halves its
// distance with every hop: ½ log2 N + 1 of them on average.
//
// Which nodes there are is handed in. Memory: at most 64 fingers, and as many pointers as `most`.
// Thread safety: none; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "posy/digest.hpp"
#include "posy/overlay/mail.hpp"

namespace posy::overlay {

class home_ring {
  public:
    home_ring(node_id me, std::uint64_t secret, std::size_t most = 10'000'000);

    // All nodes; this one may be among them.
    void set_members(std::span<const node_id>);
    // One step nearer to the home; nothing if this node is it.
    std::optional<node_id> next_hop(const digest&) const;
    // The next node on the ring: the home of this node's objects if it goes. Nothing if it is alone.
    std::optional<node_id> successor() const {
        return fingers_.empty() ? std::nullopt : std::optional(fingers_.front().node);
    }
    std::size_t fingers() const { return fingers_.size(); }

    // What a home knows. False if there is no room, or nothing to remove.
    bool add(const digest&, node_id holder);
    bool remove(const digest&, node_id holder);
    // Of the object, the latest first.
    std::span<const node_id> holders(const digest&) const;
    std::size_t pointers() const { return pointers_; }

    static constexpr std::size_t most_holders = 16;  // of an object that are remembered

    static std::uint64_t point_of(node_id);
    static std::uint64_t point_of(const digest&);

  private:
    struct by_secret {
        std::uint64_t secret;
        std::size_t operator()(const digest&) const;
    };
    struct finger {
        std::uint64_t distance;  // from here, clockwise
        node_id node;
    };

    std::uint64_t here_;
    node_id me_;
    std::uint64_t before_ = 0;     // from the node before this one to here; 0: it is alone
    std::vector<finger> fingers_;  // ascending
    std::unordered_map<digest, std::vector<node_id>, by_secret> holders_;
    std::size_t pointers_ = 0, most_;
};

}  // namespace posy::overlay
