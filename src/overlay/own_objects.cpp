#include "posy/overlay/own_objects.hpp"

#include <algorithm>

#include "base/mix.hpp"

namespace posy::overlay {

std::size_t own_objects::salted_hash::operator()(const digest& d) const {
    return base::mix(d.low ^ base::mix(d.high ^ salt));
}

std::vector<position> own_objects::ones() const {
    std::vector<position> all;
    counts_.each([&](position p, std::uint32_t) { all.push_back(p); });
    std::ranges::sort(all);
    return all;
}

}  // namespace posy::overlay
