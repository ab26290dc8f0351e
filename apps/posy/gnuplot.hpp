// Pictures by gnuplot, which is started when one is wanted.
#pragma once

#include <string>

namespace posy::tool {

// Fails if there is no gnuplot: before the work, not after it.
void check_gnuplot();
// Runs a script and makes what it prints the file at `path`, or standard output for "-".
void draw(const std::string& script, const std::string& path);

}  // namespace posy::tool
