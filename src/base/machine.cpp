#include "posy/base/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace posy::base {

namespace fs = std::filesystem;

namespace {

// The words of a short file; none when it cannot be read.
std::vector<std::string> words_of(const fs::path& path) {
    std::ifstream file(path);
    std::vector<std::string> all;
    for (std::string word; all.size() < 2 && file >> word;) all.push_back(std::move(word));
    return all;
}

// A number above 0; nothing for "max", -1 and all else.
std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
    return value;
}

void limit_memory(machine& so_far, const fs::path& file) {
    const auto words = words_of(file);
    const auto bytes = words.empty() ? std::nullopt : number(words[0]);
    if (bytes) so_far.memory = std::min(so_far.memory, *bytes);
}

void limit_cores(machine& so_far, const std::vector<std::string>& quota_and_period) {
    if (quota_and_period.size() < 2) return;
    const auto quota = number(quota_and_period[0]), period = number(quota_and_period[1]);
    if (!quota || !period) return;
    const auto cores = (*quota - 1) / *period + 1;
    so_far.cores = static_cast<unsigned>(std::min<std::uint64_t>(so_far.cores, cores));
}

// All groups from `path` up to the root, whose files are the container's when there is one.
template <class Visit>
void for_each_group(const fs::path& top, const std::string& path, const Visit& visit) {
    for (fs::path group = fs::path(path).relative_path();; group = group.parent_path()) {
        visit(top / group);
        if (group.empty()) return;
    }
}

bool lists(std::string_view controllers, std::string_view name) {
    for (std::size_t from = 0; from <= controllers.size();) {
        const auto end = std::min(controllers.find(',', from), controllers.size());
        if (controllers.substr(from, end - from) == name) return true;
        from = end + 1;
    }
    return false;
}

}  // namespace

machine within_groups(const machine& all, const fs::path& root) {
    machine left = all;
    const auto groups = root / "sys/fs/cgroup";
    std::ifstream of_this_process(root / "proc/self/cgroup");
    // "4:cpu,cpuacct:/path"; version 2 is "0::/path".
    for (std::string line; std::getline(of_this_process, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        if (controllers.empty()) {
            for (const auto& top : {groups, groups / "unified"}) {
                for_each_group(top, path, [&](const fs::path& group) {
                    limit_memory(left, group / "memory.max");
                    limit_cores(left, words_of(group / "cpu.max"));
                });
            }
        }
        if (lists(controllers, "memory")) {
            for_each_group(groups / "memory", path, [&](const fs::path& group) {
                limit_memory(left, group / "memory.limit_in_bytes");
            });
        }
        if (lists(controllers, "cpu")) {
            for (const auto& top : {groups / "cpu", groups / controllers}) {
                for_each_group(top, path, [&](const fs::path& group) {
                    auto quota = words_of(group / "cpu.cfs_quota_us");
                    for (auto& word : words_of(group / "cpu.cfs_period_us")) quota.push_back(std::move(word));
                    limit_cores(left, quota);
                });
            }
        }
    }
    left.cores = std::max(1U, left.cores);
    return left;
}

namespace {
const machine& this_machine() {
    static const machine found = within_groups({static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                                    static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
                                                std::thread::hardware_concurrency()},
                                               "/");
    return found;
}
}  // namespace

std::uint64_t usable_memory() { return this_machine().memory; }
unsigned usable_cores() { return this_machine().cores; }

}  // namespace posy::base
