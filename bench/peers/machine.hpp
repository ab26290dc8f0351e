// What a figure has to be read with: the processor, the system, the compiler and its flags.
#pragma once

#include <nlohmann/json.hpp>

namespace compare {

nlohmann::json machine();
// Cores that this process may use.
unsigned usable_cores();

}  // namespace compare
