#include "posy/base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace posy::base {
namespace {

using namespace std::chrono_literals;

int holder_of(int file) {
    std::array<char, 16> text{};
    const ssize_t got = pread(file, text.data(), text.size(), 0);
    int process = 0;
    if (got > 0) std::from_chars(text.data(), text.data() + got, process);
    return process;
}

// For processes that wait. Failing to write it is not an error.
void sign(int file) {
    const std::string text = std::to_string(getpid()) + "\n";
    if (ftruncate(file, 0) != 0 || pwrite(file, text.data(), text.size(), 0) < 0) errno = 0;
}

// The locked file, or none if another process has it; `holder` is then its id. A file whose previous holder
// has removed its name in the meantime does not count.
result<descriptor> try_lock(const std::filesystem::path& name, int& holder) {
    for (;;) {
        descriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (file.get() < 0) return system_error("cannot create the lock " + name.filename().string());
        if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EINTR) continue;
            if (errno != EWOULDBLOCK) return system_error("cannot lock " + name.filename().string());
            holder = holder_of(file.get());
            return descriptor();
        }
        if (names(name, file.get())) return file;
    }
}

// 500 ms as "0.5 s", 2000 as "2 s".
std::string seconds(std::chrono::milliseconds time) {
    std::string text = std::to_string(time / 1s);
    if (time % 1s != 0ms) {
        std::string decimals = std::to_string(1000 + (time % 1s).count());
        decimals[0] = '.';
        text.append(decimals, 0, decimals.find_last_not_of('0') + 1);
    }
    return text.append(" s");
}

error held(int holder, std::chrono::milliseconds limit) {
    const std::string who = holder > 0 ? "process " + std::to_string(holder) : "another process";
    return error::busy(who + " is changing it" +
                       (limit > 0ms ? ", and was not done within " + seconds(limit) + "; try again later"
                                    : "; try again when it is done"));
}

}  // namespace

// "1: FLOCK  ADVISORY  WRITE 4711 00:2f:123 0 EOF". Some file systems (overlayfs, Btrfs) have another device
// there than in stat(2), so only the number of the file counts where no line has both.
int flock_holder(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0) return 0;
    std::ifstream locks("/proc/locks");
    int likely = 0;
    for (std::string line; std::getline(locks, line);) {
        unsigned major = 0, minor = 0;
        unsigned long long inode = 0;
        int process = 0;
        if (std::sscanf(line.c_str(), "%*d: FLOCK %*s WRITE %d %x:%x:%llu", &process, &major, &minor,
                        &inode) != 4)
            continue;
        if (inode != status.st_ino || process <= 0) continue;
        if (makedev(major, minor) == status.st_dev) return process;
        likely = process;
    }
    return likely;
}

error used_by(int holder) {
    const std::string number = holder > 0 ? " (process " + std::to_string(holder) + ")" : "";
    return error::busy("another process uses it" + number + "; stop that one first");
}

result<file_lock> file_lock::take(const std::filesystem::path& target, const patience& how) {
    const auto real = behind_links(target);
    if (!real) return real.error();
    struct stat status {};
    if (stat(real->c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return file_lock(descriptor(), {});
    const std::filesystem::path name = real->string() + ".posy-lock";
    const auto start = std::chrono::steady_clock::now();
    bool told = false;
    for (auto pause = 1ms;; pause = std::min(2 * pause, 50ms)) {
        int holder = 0;
        auto file = try_lock(name, holder);
        if (!file) return file.error();
        if (file->get() >= 0) {
            sign(file->get());
            return file_lock(std::move(*file), name);
        }
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited >= how.limit) return held(holder, how.limit);
        if (!told && waited >= how.quiet && how.on_wait) {
            how.on_wait(holder);
            told = true;
        }
        std::this_thread::sleep_for(pause);
    }
}

file_lock::file_lock(file_lock&& other) noexcept
    : file_(std::move(other.file_)), name_(std::exchange(other.name_, {})) {}

// The name is removed while the lock is still held: a process that opened the file before sees that the path
// no longer names it.
file_lock::~file_lock() {
    if (!name_.empty()) unlink(name_.c_str());
}

}  // namespace posy::base
