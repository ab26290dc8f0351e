// Nodes at random places of a square, and the time light takes between them: what the overlays that choose
// near neighbours are simulated on.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "posy/overlay/mail.hpp"

namespace posy::simulate {

class places {
  public:
    places(std::size_t nodes, std::mt19937_64& random) {
        for (std::size_t i = 0; i < nodes; ++i) {
            const double x = share(random);
            at_.push_back({x, share(random)});
        }
    }
    // Between two nodes: the square is 100 ms wide, and no way is shorter than 1 ms.
    std::uint64_t latency(overlay::node_id a, overlay::node_id b) const {
        return 1 + static_cast<std::uint64_t>(100 * std::hypot(at_[a].x - at_[b].x, at_[a].y - at_[b].y));
    }

    // In 0..1, without 1; the same on every machine, which std::uniform_real_distribution is not.
    static double share(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

  private:
    struct point {
        double x, y;
    };
    std::vector<point> at_;
};

}  // namespace posy::simulate
