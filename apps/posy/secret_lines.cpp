#include "secret_lines.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "posy/base/file.hpp"
#include "posy/base/wipe.hpp"
#include "stop_signal.hpp"
#include "tool.hpp"

namespace posy::tool {

// Does not show what is typed, until the end: a signal ends the input, so that the terminal is put right.
class secret_lines::terminal {
  public:
    explicit terminal(std::string prompt) : prompt_(std::move(prompt)) {
        tcgetattr(STDIN_FILENO, &before_);
        termios silent = before_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    ~terminal() { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    // Whether there is something to read.
    bool wait() {
        fmt::print(stderr, "{}", prompt_);
        std::array<pollfd, 2> either{{{STDIN_FILENO, POLLIN, 0}, {stop_, POLLIN, 0}}};
        while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
        }
        fmt::print(stderr, "\n");  // in place of the one that was typed
        return either[1].revents == 0;
    }

  private:
    std::string prompt_;
    int stop_ = stop_on_signal();
    termios before_{};
};

secret_lines::secret_lines(std::size_t longest, std::string prompt)
    : longest_(longest), buffer_(std::max<std::size_t>(longest + 2, 4096), '\0') {
    base::forbid_core_dumps();
    if (isatty(STDIN_FILENO)) terminal_ = std::make_unique<terminal>(std::move(prompt));
}

secret_lines::~secret_lines() { base::wipe(buffer_); }

bool secret_lines::read_more() {
    // What was given is overwritten before this waits for more.
    std::memmove(buffer_.data(), buffer_.data() + from_, end_ - from_);
    end_ -= std::exchange(from_, 0);
    explicit_bzero(buffer_.data() + end_, buffer_.size() - end_);
    base::wipe_stack();
    if (terminal_ && !terminal_->wait()) return false;
    ssize_t got = 0;
    do got = read(STDIN_FILENO, buffer_.data() + end_, buffer_.size() - end_);
    while (got < 0 && errno == EINTR);
    if (got < 0) throw failure("standard input: " + base::system_error("cannot read").message);
    end_ += static_cast<std::size_t>(got);
    return got > 0;
}

std::optional<std::string_view> secret_lines::next() {
    for (bool more = true;;) {
        const auto held = std::string_view(buffer_).substr(from_, end_ - from_);
        const auto feed = held.find('\n');
        const bool whole = feed != std::string_view::npos || (!more && !held.empty());
        auto line = held.substr(0, feed);
        if (whole && line.ends_with('\r')) line.remove_suffix(1);
        if (line.size() > longest_ + (whole ? 0 : 1))  // of a part, the last may be the CR
            throw failure(
                fmt::format("standard input: line {} is longer than {} bytes", number_ + 1, longest_));
        if (whole) {
            ++number_;
            from_ += std::min(held.size(), feed == std::string_view::npos ? feed : feed + 1);
            return line;
        }
        if (!more) return std::nullopt;
        more = read_more();
    }
}

}  // namespace posy::tool
