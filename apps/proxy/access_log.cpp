#include "access_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <stdexcept>

#include "posy/base/file.hpp"

namespace posy::proxy {

namespace {

constexpr std::size_t enough = 64 * 1024;

std::string stamp_of(std::time_t second) {
    std::tm parts{};
    localtime_r(&second, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S %z", &parts)};
}

// Quotes and what is not printable would end the field early, or worse.
void append_quoted(std::string& to, std::string_view text) {
    for (const char c : text) {
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
            to += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            to += c;
        }
    }
}

}  // namespace

access_log::access_log(const std::string& path) {
    if (path.empty()) return;
    file_ = path == "-" ? dup(STDOUT_FILENO)
                        : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
}

access_log::~access_log() {
    flush();
    if (file_ >= 0) close(file_);
}

void access_log::write(std::string_view who, std::string_view method, std::string_view target,
                       unsigned status, std::uint64_t bytes, std::int64_t now) {
    if (!on()) return;
    const std::lock_guard lock(mutex_);
    if (now != stamped_) {
        stamped_ = now;
        stamp_ = stamp_of(now);
    }
    waiting_.append(who).append(" - - [").append(stamp_).append("] \"");
    append_quoted(waiting_, method);
    waiting_ += ' ';
    append_quoted(waiting_, target);
    waiting_ += fmt::format(" HTTP/1.1\" {} {}\n", status, bytes);
    if (waiting_.size() < enough) return;
    static_cast<void>(base::write_fully(file_, as_byte_view(waiting_)));
    waiting_.clear();
}

void access_log::flush() {
    const std::lock_guard lock(mutex_);
    if (!on() || waiting_.empty()) return;
    static_cast<void>(base::write_fully(file_, as_byte_view(waiting_)));
    waiting_.clear();
}

}  // namespace posy::proxy
