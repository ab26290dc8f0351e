// The picture of a simulation: what was measured beside what theory predicts, and the curves.
#pragma once

#include <string>

#include "simulate/report.hpp"

namespace posy::tool {

// Writes an SVG. Throws failure if gnuplot is missing or cannot draw it.
void draw_report(const simulate::report&, const std::string& path);

}  // namespace posy::tool
