#include "access_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "posy/base/folder.hpp"

namespace posy::proxy {

namespace {

constexpr std::size_t enough = 64 * 1024;

std::string stamp_of(std::time_t second) {
    std::tm parts{};
    localtime_r(&second, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S %z", &parts)};
}

bool plain(char c) {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';  // a char beyond ASCII is negative, or above 0x7f
}

// Quotes and what is not printable would end the field early, or worse.
void append_escaped(std::string& to, std::string_view text) {
    for (const char c : text) {
        if (plain(c)) {
            to += c;
        } else {
            to += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
}

void append_quoted(std::string& to, std::string_view text) {
    to += " \"";
    append_escaped(to, text.empty() ? "-" : text);
    to += '"';
}

std::string_view version_of(int number) { return number == 10 ? "1.0" : "1.1"; }

void append_common(std::string& to, const log_entry& e, std::string_view stamp) {
    to.append(e.who).append(" - ");
    // A name with a blank in it would be two fields.
    std::string user(e.user.empty() ? "-" : e.user);
    std::ranges::replace(user, ' ', '_');
    append_escaped(to, user);
    to.append(" [").append(stamp).append("] \"");
    if (e.version == 0) {
        to += '-';
    } else {
        append_escaped(to, e.method);
        to += ' ';
        append_escaped(to, e.target);
        to.append(" HTTP/").append(version_of(e.version));
    }
    to += fmt::format("\" {} ", e.status);
    e.bytes == 0 ? void(to += '-') : void(to += std::to_string(e.bytes));
}

void append_json_text(std::string& to, std::string_view name, std::string_view value) {
    to.append(",\"").append(name).append("\":");
    if (std::ranges::all_of(value, plain)) {
        to.append("\"").append(value).append("\"");
    } else {  // what is not UTF-8 is no JSON either
        to += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
}

void append_json(std::string& to, const log_entry& e) {
    to += fmt::format("{{\"time\":\"{}\"", http::rfc_3339(e.at));
    append_json_text(to, "client", e.who);
    if (!e.user.empty()) append_json_text(to, "user", e.user);
    if (e.version != 0) {
        append_json_text(to, "method", e.method);
        append_json_text(to, "url", e.target);
        append_json_text(to, "version", version_of(e.version));
    }
    to += fmt::format(",\"status\":{},\"bytes\":{}", e.status, e.bytes);
    if (!e.referer.empty()) append_json_text(to, "referer", e.referer);
    if (!e.agent.empty()) append_json_text(to, "agent", e.agent);
    append_json_text(to, "result", e.result.empty() ? "-" : e.result);
    if (!e.why.empty()) append_json_text(to, "reason", e.why);
    to += fmt::format(",\"seconds\":{:.6f}}}", static_cast<double>(e.took.count()) / 1e6);
}

void append_line(std::string& to, log_format format, const log_entry& e, std::string_view stamp) {
    if (format == log_format::json) {
        append_json(to, e);
    } else {
        append_common(to, e, stamp);
        if (format != log_format::common) {
            append_quoted(to, e.referer);
            append_quoted(to, e.agent);
        }
        if (format == log_format::cache)
            to += fmt::format(" {} {:.3f}", e.result.empty() ? "-" : e.result,
                              static_cast<double>(e.took.count()) / 1e3);
    }
    to += '\n';
}

[[noreturn]] void fail(const std::string& path, int why) {
    throw std::runtime_error("--access-log " + path + ": cannot be written: " + std::strerror(why));
}

std::filesystem::path folder_of(const std::string& path) {
    const auto folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder;
}

}  // namespace

base::descriptor access_log::open(const std::string& path) {
    if (path.empty()) return base::descriptor();
    std::error_code failed;  // opening the file will say why
    if (path != "-") std::filesystem::create_directories(folder_of(path), failed);
    base::descriptor file(path == "-"
                              ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                              : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (file.get() < 0) fail(path, errno);
    return file;
}

void access_log::check(const std::string& path) {
    if (path.empty() || path == "-") return;
    // A pipe that nobody reads yet (ENXIO) will be waited for.
    const base::descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC));
    if (file.get() >= 0 || errno == ENXIO) return;
    if (errno != ENOENT) fail(path, errno);
    if (const auto usable = base::check_folder(folder_of(path)); !usable)
        throw std::runtime_error("--access-log " + path + ": its folder " + usable.error().text());
}

access_log::access_log(const std::string& path, log_format format, http::journal& j)
    : journal_(j), path_(path), format_(format), file_(open(path)) {
    on_ = !path.empty();
}

access_log::~access_log() { flush(); }

void access_log::reopen() {
    const std::lock_guard lock(mutex_);
    try {
        change(path_, format_, open(path_));
    } catch (const std::exception& e) {
        journal_.error("{}; the old file stays in use", e.what());
    }
}

void access_log::use(const std::string& path, log_format format, base::descriptor file) {
    const std::lock_guard lock(mutex_);
    change(path, format, std::move(file));
}

void access_log::change(const std::string& path, log_format format, base::descriptor file) {
    put();  // these lines are of the time before
    file_ = std::move(file);
    path_ = path;
    format_ = format;
    torn_ = false;
    on_ = !path_.empty();
}

void access_log::write(const log_entry& e) {
    if (!on()) return;
    const std::lock_guard lock(mutex_);
    if (const auto second = e.at.count() / 1000; second != stamped_ && format_ != log_format::json) {
        stamped_ = second;
        stamp_ = stamp_of(second);
    }
    append_line(waiting_, format_, e, stamp_);
    if (waiting_.size() >= enough) put();
}

void access_log::flush() {
    const std::lock_guard lock(mutex_);
    put();
}

void access_log::put() {
    if (waiting_.empty() || file_.get() < 0) return;
    if (torn_) waiting_.insert(0, "\n");  // half a line is there already
    std::string_view left = waiting_;
    int failed = 0;
    while (!left.empty() && failed == 0) {
        const auto written = ::write(file_.get(), left.data(), left.size());
        if (written >= 0) {
            left.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            failed = errno;
        }
    }
    if (failed != 0) {
        lost_ += static_cast<std::uint64_t>(std::ranges::count(left, '\n'));
        if (left.size() < waiting_.size()) torn_ = waiting_[waiting_.size() - left.size() - 1] != '\n';
        if (!failing_)
            journal_.error("the access log {}: {}; its lines are lost", path_, std::strerror(failed));
    } else {
        torn_ = false;
        if (failing_)
            journal_.warning("the access log {} is written again; {} lines were lost", path_, lost());
    }
    failing_ = failed != 0;
    waiting_.clear();
}

}  // namespace posy::proxy
