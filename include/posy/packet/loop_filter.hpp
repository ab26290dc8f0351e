// Packets that notice when they go in circles (Icarus: Whitaker and Wetherall 2002; Broder and Mitzenmacher
// 2004, 7.1).
//
// A packet carries a small Bloom filter of the nodes that it has visited. Each node has a mask, a few bits
// drawn from its number and the network's seed. A node whose whole mask is set already has seen the packet,
// so the packet is in a loop; otherwise the node sets its mask and forwards the packet. A multicast packet is
// copied, and each copy carries the filter of its own way.
//
// A packet that comes back is always noticed. A packet on a way without a loop may be mistaken for one, with
// the odds of theory::false_loop_odds(). Masks do not change, so the same way fails for every packet: a
// sender that tries again takes another salt, and with it other masks for all nodes.
//
// Cost: 8 words of memory, and as many operations per node. The filter is not authenticated: a node that
// clears it hides a loop, and one that fills it stops the packet, which it could have dropped. Thread safety:
// values.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

namespace posy::packets {

// What all nodes of a network agree on.
struct loop_network {
    unsigned bits = 128;     // of the filter: a multiple of 8, at most max_bits
    unsigned mask_bits = 5;  // different bits in the mask of each node
    std::uint64_t seed = 0;

    static constexpr unsigned max_bits = 512;
    std::size_t bytes() const { return bits / 8; }
};

// Is such a network possible? The error names the field that is not.
result<void> check(const loop_network&);

// What a node adds to the packets that it forwards.
class loop_mask {
  public:
    static result<loop_mask> make(const loop_network&, std::uint64_t node, std::uint8_t salt = 0);

  private:
    friend class loop_filter;
    std::array<std::uint64_t, loop_network::max_bits / 64> words_{};
};

// The filter of one packet, or of one copy of it.
class loop_filter {
  public:
    // Of a packet that has visited no node.
    loop_filter() = default;
    // From the bytes in a packet; an error if there are more or fewer than the network's.
    static result<loop_filter> read(const loop_network&, byte_view field);
    // Precondition: field has the network's bytes.
    void write(std::span<std::byte> field) const;

    // The packet arrives at a node. True: the node may forward it, and its mask is set. False: the packet has
    // been here, or seems to have been; drop it. The filter has not changed.
    bool enter(const loop_mask& node) {
        std::uint64_t fresh = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) fresh |= node.words_[i] & ~words_[i];
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= node.words_[i];
        return fresh != 0;
    }

    // A multicast packet arrives at a node through one interface: calls send(interface, filter of the copy)
    // for all other interfaces of its group. False: the node has seen this copy, or an ancestor of it, and
    // nothing is sent.
    template <class Send>
    bool enter(const loop_mask& node, std::span<const unsigned> interfaces, unsigned arrived_on,
               const Send& send) const {
        loop_filter here = *this;
        if (!here.enter(node)) return false;
        for (const unsigned interface : interfaces)
            if (interface != arrived_on) send(interface, here);
        return true;
    }

    friend bool operator==(const loop_filter&, const loop_filter&) = default;

  private:
    std::array<std::uint64_t, loop_network::max_bits / 64> words_{};
};

}  // namespace posy::packets
