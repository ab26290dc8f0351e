// Every system of `posy simulate`, in one list. A system is a file of its own with one function, declared
// here, and one line of the list in systems.cpp.
#pragma once

#include <span>
#include <string_view>

#include "report.hpp"

namespace posy::simulate {

report run_mesh(const options&);
report run_tree(const options&);
report run_attenuated(const options&);

// In the order of docs/networks.md.
std::span<const system> systems();
// Null if there is none of that name.
const system* find_system(std::string_view name);

}  // namespace posy::simulate
