#include "machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace compare {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

}  // namespace

unsigned usable_cores() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

nlohmann::json machine() {
    utsname system{};
    uname(&system);
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    nlohmann::json caches = nlohmann::json::array();
    for (int i = 0; i < 8; ++i) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
        if (first_line(folder + "type") != "Instruction" && !first_line(folder + "size").empty())
            caches.push_back("L" + first_line(folder + "level") + " " + first_line(folder + "size"));
    }
    return {{"cpu", cpu_model()},
            {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
            {"usable_cores", usable_cores()},
            {"caches", caches},
            {"memory_bytes", pages * page},
            {"kernel", std::string(system.sysname) + " " + system.release},
            {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
            {"compiler", POSY_COMPILER},
            {"flags", POSY_FLAGS},
            {"peer_flags", POSY_PEER_FLAGS}};
}

}  // namespace compare
