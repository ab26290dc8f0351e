#include "posy/theory/multicast.hpp"

namespace posy::theory {

double multicast_vain_packets(double branches, std::span<const double> rates) {
    double below = 0;
    for (std::size_t i = rates.size(); i-- > 0;) below = branches * rates[i] * (1 + below);
    return below;
}

double multicast_vain_packets(double branches, std::span<const double> rates, std::span<const double> routers,
                              std::span<const double> used) {
    double total = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
        total += (branches * routers[i] - used[i]) * rates[i] *
                 (1 + multicast_vain_packets(branches, rates.subspan(i + 1)));
    return total;
}

}  // namespace posy::theory
