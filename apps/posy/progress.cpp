#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace posy::tool {

progress::progress(std::string title, std::optional<std::uint64_t> total, counting what)
    : title_(std::move(title)), total_(total), what_(what), on_(isatty(STDERR_FILENO) != 0) {}

progress::~progress() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
}

void progress::add(std::uint64_t done) {
    done_ += done;
    const auto now = clock::now();
    if (!on_ || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    drawn_ = true;
    const double megabytes = static_cast<double>(done_) / 1e6;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double speed = megabytes / seconds;
    if (!total_) {
        fmt::print(stderr, "\r{}  {:.0f} MB, {:.0f} MB/s\033[K", title_, megabytes, speed);
    } else {
        const double share = static_cast<double>(done_) / static_cast<double>(*total_);
        const std::string bar(static_cast<std::size_t>(30 * share), '#');
        std::string pace = fmt::format("{:.0f} MB/s", speed);
        if (what_ == counting::work) {
            const auto left = static_cast<unsigned>(seconds * (1 / share - 1));
            pace = fmt::format("{}:{:02} left", left / 60, left % 60);
        }
        fmt::print(stderr, "\r{}  [{:<30}] {:3.0f} %, {}\033[K", title_, bar, 100 * share, pace);
    }
}

}  // namespace posy::tool
