// Multicast forwarding by filters (Grönvall 2001; Broder & Mitzenmacher 2004, 7.3): in place of a list of
// interfaces for each group address, a filter of group addresses for each interface.
//
// A packet that arrives on one interface leaves on every other whose filter has its group, and upstream. The
// filters count, so that a group can be left. An interface may be joined several times, once by each router
// behind it, and must be left as often. A false positive sends a packet where nobody wants it; the next
// router drops it, unless one of its own filters errs, too. For that to be independent, each router has its
// own hash.
//
// Invariant: a packet is never withheld from an interface that has joined. Memory: about 5 times that of the
// plain filters, whatever the groups. Cost of a packet: one hash, and one lookup per interface. Leaving a
// group that was not joined is refused if the filter knows; if it is a false positive it would damage others,
// so leave only what was joined. Joins per interface are limited, so that no neighbour can fill the filter.
//
// Thread safety: none; forward() may run together with itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posy/counting_filter.hpp"

namespace posy::packets {

class multicast_router {
  public:
    struct settings {
        std::size_t interfaces = 0;
        std::optional<std::size_t>
            upstream{};                // towards the root of the tree: it gets all packets from below
        std::uint64_t groups = 1'000;  // that an interface is planned for …
        double rate = 0.01;            // … and the rate of its filter then
        std::uint64_t hash = 0;        // another one for every router
        unsigned counter_bits = 8;     // 4 or 8: a group joined 14 or 254 times can still be left
        double most_joins = 4;         // times the planned groups, then joins are refused
    };
    static result<multicast_router> make(const settings&);

    // By the bytes of the address. False: refused, and nothing has changed.
    bool join(std::size_t interface, byte_view group);
    bool leave(std::size_t interface, byte_view group);

    // The interfaces on which a packet leaves, ascending. Without `arrived` it is the router's own.
    std::vector<std::size_t> forward(byte_view group, std::optional<std::size_t> arrived) const;

    std::uint64_t joins(std::size_t interface) const { return filters_[interface].items(); }
    const counting_filter& filter(std::size_t interface) const { return filters_[interface]; }
    std::uint64_t refused() const { return refused_; }

  private:
    multicast_router(const settings& s, std::vector<counting_filter> filters)
        : settings_(s), filters_(std::move(filters)) {}
    bool refuse() { return ++refused_, false; }

    settings settings_;
    std::vector<counting_filter> filters_;
    std::uint64_t refused_ = 0;
};

}  // namespace posy::packets
