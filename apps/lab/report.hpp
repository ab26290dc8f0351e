// What the laboratory found, as people want it: a table, a page with the picture, numbers for other programs.
#pragma once

#include <string>
#include <vector>

#include "laboratory.hpp"

namespace posy::lab {

struct experiment {
    std::string name;  // of the trace
    std::vector<outcome> outcomes;
};

// When proxies set so send an update, in words: what `change` means depends on the way of sharing.
std::string update_of(const setting&);

std::string markdown(const experiment&);
std::string html(const experiment&, const std::string& svg);
std::string csv(const experiment&);
// A script for gnuplot: hit ratio against bytes per request, a line for each way of sharing.
std::string picture(const experiment&);

}  // namespace posy::lab
