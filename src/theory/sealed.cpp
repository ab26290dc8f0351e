// The size of a sealed filter: what its builder would choose for n keys, layer after layer, with the mean in
// place of chance.
#include "sealed/shape.hpp"

#include <cmath>
#include <limits>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

// Unknowns of a layer that no key uses, measured: those at the ends of a chunk, and a share of all.
constexpr double unused_a_chunk = 30, unused_share = 0.0011;

double bumped(const sealed::layer_shape& shape, double keys) {
    const auto unknowns = static_cast<double>(shape.blocks() * sealed::window);
    const double used = unknowns * (1 - unused_share) - unused_a_chunk * static_cast<double>(shape.chunks);
    return std::max(0.0, keys - used);
}

}  // namespace

double sealed_bits(double n, double rate, unsigned value_bits) {
    constexpr auto most = static_cast<double>(sealed::max_items);
    if (!(n >= 0 && n <= most) || !sealed::is_rate(rate) || value_bits > sealed::max_value_bits) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const auto [fingerprint, extra] = sealed::mixture_for(rate);
    sealed::header h{{value_bits, fingerprint}, static_cast<std::uint64_t>(std::round(n)), {}, {}};
    std::uint64_t left = h.items;
    while (left > sealed::small_set) {
        h.layers.push_back(sealed::layer_for(left, extra));
        left = static_cast<std::uint64_t>(std::round(bumped(h.layers.back(), static_cast<double>(left))));
    }
    h.remainder = sealed::remainder_for(left, extra, 0);
    std::vector<std::byte> front;
    h.put(front);
    return 8 * static_cast<double>(sealed::arrangement(h, front.size()).size);
}

}  // namespace posy::theory
