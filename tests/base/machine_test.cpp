#include "posy/base/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "support.hpp"

namespace posy::base {
namespace {

namespace fs = std::filesystem;

constexpr machine large{std::uint64_t{64} << 30, 32};

// The limits that a tree of files below a root stands for.
machine limits(const std::map<std::string, std::string>& files) {
    const scratch_directory root;
    for (const auto& [name, text] : files) {
        const auto path = root.path() / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    return within_groups(large, root.path());
}

TEST(machine, without_groups_the_machine_is_the_limit) {
    EXPECT_EQ(limits({}).memory, large.memory);
    EXPECT_EQ(limits({}).cores, large.cores);
    EXPECT_EQ(limits({{"proc/self/cgroup", "nonsense\n:\n0:\n0::/x\n"}}).memory, large.memory);
}

TEST(machine, version_2_of_the_groups) {
    const auto found = limits({{"proc/self/cgroup", "0::/user/job\n"},
                               {"sys/fs/cgroup/user/job/memory.max", "536870912\n"},
                               {"sys/fs/cgroup/user/job/cpu.max", "150000 100000\n"}});
    EXPECT_EQ(found.memory, 536870912u);
    EXPECT_EQ(found.cores, 2u);
}

// The strictest of all groups above counts, and so does that of a container, which sees itself as the first.
TEST(machine, the_groups_above_count) {
    const auto nested = limits({{"proc/self/cgroup", "0::/a/b/c\n"},
                                {"sys/fs/cgroup/a/memory.max", "1000000\n"},
                                {"sys/fs/cgroup/a/b/memory.max", "max\n"},
                                {"sys/fs/cgroup/a/b/c/memory.max", "2000000\n"},
                                {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}});
    EXPECT_EQ(nested.memory, 1000000u);
    EXPECT_EQ(nested.cores, large.cores);
    EXPECT_EQ(limits({{"proc/self/cgroup", "0::/not/seen/from/here\n"},
                      {"sys/fs/cgroup/memory.max", "3000000\n"},
                      {"sys/fs/cgroup/cpu.max", "20000 100000\n"}})
                  .memory,
              3000000u);
}

TEST(machine, version_1_of_the_groups) {
    const auto found = limits({{"proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n"},
                               {"sys/fs/cgroup/memory/job/memory.limit_in_bytes", "268435456\n"},
                               {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                               {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n"},
                               {"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n"},
                               {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
                               {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}});
    EXPECT_EQ(found.memory, 268435456u);
    EXPECT_EQ(found.cores, 4u);
}

TEST(machine, values_that_set_no_limit) {
    for (const auto* text : {"", "max", "-1", "0", "12x", "99999999999999999999999"}) {
        const auto found = limits({{"proc/self/cgroup", "0::/\n"},
                                   {"sys/fs/cgroup/memory.max", text},
                                   {"sys/fs/cgroup/cpu.max", text}});
        EXPECT_EQ(found.memory, large.memory) << text;
        EXPECT_EQ(found.cores, large.cores) << text;
    }
    const auto least = limits({{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "1 100000"}});
    EXPECT_EQ(least.cores, 1u);
}

TEST(machine, this_machine_has_memory_and_processors) {
    EXPECT_GT(usable_memory(), std::uint64_t{1} << 20);
    EXPECT_GE(usable_cores(), 1u);
}

}  // namespace
}  // namespace posy::base
