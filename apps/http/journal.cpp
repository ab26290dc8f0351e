#include "journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include "posy/base/file.hpp"

namespace posy::http {

namespace {

// syslog's numbers, which systemd reads.
int priority_of(log_level l) {
    switch (l) {
        case log_level::error:
            return 3;
        case log_level::warning:
            return 4;
        case log_level::info:
            return 6;
    }
    return 6;
}

void append_printable(std::string& to, std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
            to += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            to += c;
        }
    }
}

}  // namespace

std::string rfc_3339(std::chrono::milliseconds since_1970) {
    const auto count = since_1970.count();
    const std::time_t second = count / 1000;
    std::tm parts{};
    gmtime_r(&second, &parts);
    char text[32];
    const std::string_view day(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
    return fmt::format("{}.{:03}Z", day, count % 1000);
}

bool reads_standard_error(std::string_view stream) {
    struct stat at {};
    if (stream.empty() || fstat(STDERR_FILENO, &at) != 0) return false;
    return stream == fmt::format("{}:{}", at.st_dev, at.st_ino);
}

journal::journal(const timekeeper& time)
    : journal(time,
              reads_standard_error(std::getenv("JOURNAL_STREAM") ? std::getenv("JOURNAL_STREAM") : "")
                  ? style::priorities
                  : style::times,
              [](std::string_view line) {
                  static_cast<void>(base::write_fully(STDERR_FILENO, as_byte_view(line)));
              }) {}

journal::journal(const timekeeper& time, style how, sink write)
    : time_(&time), style_(how), write_(std::move(write)) {}

void journal::tell(log_level l, std::string_view text) {
    if (!tells(l)) return;
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    std::string line = style_ == style::priorities
                           ? fmt::format("<{}>", priority_of(l))
                           : fmt::format("{} {} ", rfc_3339(time_->wall_time()), name_of(l));
    append_printable(line, text);
    line += '\n';
    write_(line);
}

void journal::tell_sparingly(log_level l, std::string_view kind, std::string text) {
    {
        const std::lock_guard lock(mutex_);
        const auto now = time_->now();
        const auto [found, first] = crowds_.try_emplace(std::string(kind), crowd{.until = now + pause});
        auto& others = found->second;
        if (!first && (now < others.until || others.held_back > 0)) {
            if (others.held_back++ == 0) others.since = time_->wall_time();
            others.last = std::move(text);
            others.level = l;
            return;
        }
        others.until = now + pause;
    }
    tell(l, text);
}

void journal::tell_held_back(bool all) {
    if (!time_) return;
    std::vector<std::pair<log_level, std::string>> lines;
    {
        const std::lock_guard lock(mutex_);
        const auto now = time_->now();
        for (auto& [kind, held] : crowds_) {
            if (held.held_back == 0 || (!all && now < held.until)) continue;
            auto text = std::move(held.last);
            if (held.held_back > 1)
                text += fmt::format(" ({} more like it since {})", held.held_back - 1, rfc_3339(held.since));
            lines.emplace_back(held.level, std::move(text));
            held = {.until = now + pause};
        }
    }
    for (const auto& [l, text] : lines) tell(l, text);
}

}  // namespace posy::http
