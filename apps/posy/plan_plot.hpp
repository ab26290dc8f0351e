// Pictures of a plan, drawn by gnuplot.
#pragma once

#include <string>

#include "posy/plan.hpp"

namespace posy::tool {

// Two curves in one SVG file: the rate against the number of hashes at the plan's size, and against bits per
// item at the plan's hashes and at the best number of them.
void plot_plan(const plan&, const std::string& path);

}  // namespace posy::tool
