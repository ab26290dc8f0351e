// Pictures of a plan, drawn by gnuplot.
#pragma once

#include <string>

#include "posy/plan.hpp"

namespace posy::tool {

// Three pictures in one SVG file: the rate against the number of hashes at the plan's size; against bits per
// item of the array at the plan's hashes and at the best number of them; and against bits per item of the
// message, where a compressed plan is the better one.
void plot_plan(const plan&, const std::string& path);

}  // namespace posy::tool
