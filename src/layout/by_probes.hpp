// What the layouts share whose probes go anywhere, spread and sliced: hash i takes the i-th 64 random bits of
// the digest to its position, which the layout says.
#pragma once

#include "posy/geometry.hpp"
#include "posy/layout/probe.hpp"

namespace posy::layouts {

// Layout::position(i, random) is where hash i goes with its 64 random bits.
template <class Layout>
class by_probes {
  public:
    static constexpr unsigned max_hashes = 32;
    static constexpr unsigned hash_step = 1;
    static constexpr std::uint64_t fold_unit = 1;

    template <class Visit>
    bool positions(digest d, Visit visit) const {
        probe_sequence probes(d);
        for (unsigned i = 0; i < hashes_; ++i) {
            if (!visit(static_cast<const Layout*>(this)->position(i, probes.next()))) return false;
        }
        return true;
    }
    template <class Visit>
    void lines(digest d, Visit visit) const {
        positions(d, [&](std::uint64_t position) { return visit(position), true; });
    }

  protected:
    explicit by_probes(unsigned hashes) : hashes_(hashes) {}

    unsigned hashes_;
};

}  // namespace posy::layouts
