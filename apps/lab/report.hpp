// What the laboratory found: as a table, a page with a picture, and data for other programs.
#pragma once

#include <string>
#include <vector>

#include "laboratory.hpp"

namespace posy::lab {

struct experiment {
    std::string name;  // of the trace
    std::vector<outcome> outcomes;
};

// When proxies with this setting send an update, in words.
std::string update_of(const setting&);

std::string markdown(const experiment&);
std::string html(const experiment&, const std::string& svg);
std::string csv(const experiment&);
// A script for gnuplot: hit ratio against bytes per request, a line for each way of sharing.
std::string picture(const experiment&);

}  // namespace posy::lab
