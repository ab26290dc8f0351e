#include "posy/theory/flows.hpp"

#include <algorithm>
#include <cmath>

namespace posy::theory {

double stage_strength(double threshold, double width, double traffic) { return threshold * width / traffic; }

double multistage_pass_bound(double size, double threshold, double strength, unsigned stages) {
    if (!(size < threshold * (1 - 1 / strength))) return 1;
    return std::pow(threshold / (strength * (threshold - size)), stages);
}

double multistage_undetected(double threshold, double strength, unsigned stages, double largest_packet) {
    if (stages < 2) return 0;
    const double d = stages;
    return std::max(0.0, threshold * (1 - d / (strength * (d - 1))) - largest_packet);
}

double multistage_entries(double flows, double width, double strength, unsigned stages) {
    if (strength <= 1 || strength * flows <= width) return flows;
    const double small = flows * std::pow(flows / (strength * flows - width), stages);
    return std::min(flows, std::max(width / (strength - 1), small) + small);
}

}  // namespace posy::theory
