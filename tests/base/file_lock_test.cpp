#include "posy/base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support.hpp"

namespace posy::base {
namespace {

using namespace std::chrono_literals;

TEST(file_lock, one_holder_at_a_time_and_nothing_is_left) {
    const scratch_directory scratch;
    std::atomic<int> inside = 0, most = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < 50; ++turn) {
                const auto lock = file_lock::take(scratch / "file", {.limit = 60s});
                ASSERT_TRUE(lock) << lock.error().text();
                most = std::max(most.load(), ++inside);
                std::this_thread::yield();
                --inside;
            }
        });
    }
    threads.clear();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(scratch.files(), 0u);
}

TEST(file_lock, names_the_holder_and_gives_up) {
    const scratch_directory scratch;
    const auto lock = file_lock::take(scratch / "file", {});
    ASSERT_TRUE(lock);
    int told = 0;
    const auto second = file_lock::take(
        scratch / "file", {.limit = 100ms, .quiet = 10ms, .on_wait = [&](int holder) { told = holder; }});
    ASSERT_FALSE(second);
    EXPECT_EQ(told, getpid());
    EXPECT_EQ(second.error().message.find("process " + std::to_string(getpid()) + " is changing it"), 0u);
}

TEST(file_lock, follows_links_and_leaves_devices_alone) {
    const scratch_directory scratch;
    std::ofstream(scratch / "file") << "x";
    std::filesystem::create_symlink("file", scratch / "link");
    const auto lock = file_lock::take(scratch / "file", {});
    ASSERT_TRUE(lock);
    EXPECT_FALSE(file_lock::take(scratch / "link", {}));
    const auto null = file_lock::take("/dev/null", {});
    EXPECT_TRUE(null);
    EXPECT_TRUE(file_lock::take("/dev/null", {}));
}

TEST(file_lock, a_leftover_of_a_killed_writer_goes_and_one_in_use_stays) {
    const scratch_directory scratch;
    const auto leftover = scratch / "file.posy-tmp";
    const auto write = [&] {
        auto file = *atomic_file::create(scratch / "file");
        EXPECT_TRUE(file.commit());
    };
    std::ofstream(leftover) << "x";
    write();
    EXPECT_EQ(scratch.files(), 1u);
    std::ofstream(leftover) << "x";
    const descriptor live(open(leftover.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(flock(live.get(), LOCK_EX), 0);
    write();
    EXPECT_EQ(scratch.files(), 2u);
}

}  // namespace
}  // namespace posy::base
