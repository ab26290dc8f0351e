#include "systemd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

#include "posy/base/file.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

constexpr int first_descriptor = 3;
constexpr long most_sockets = 64;

std::optional<long> number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    if (!text) return std::nullopt;
    long value = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, failed] = std::from_chars(text, end, value);
    if (failed != std::errc() || stop != end || value < 0)
        throw failure(
            fmt::format("${} is '{}', not a number; it is the service manager's to set", variable, text));
    return value;
}

std::vector<std::string> names_of_sockets() {
    const char* const text = std::getenv("LISTEN_FDNAMES");
    std::vector<std::string> all;
    if (!text) return all;
    std::string_view left(text);
    for (;;) {
        const auto colon = left.find(':');
        all.emplace_back(left.substr(0, colon));
        if (colon == std::string_view::npos) return all;
        left.remove_prefix(colon + 1);
    }
}

int option_of(int descriptor, int option) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

http::host_port address_of(const sockaddr_storage& at, socklen_t size) {
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    const int failed = getnameinfo(reinterpret_cast<const sockaddr*>(&at), size, host.data(), host.size(),
                                   port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
    if (failed != 0)
        throw failure(std::string("the address of a socket cannot be read: ") + gai_strerror(failed));
    return {host.data(), static_cast<std::uint16_t>(std::stoul(port.data()))};
}

inherited_socket socket_of(int descriptor, const std::string& name) {
    const auto fail = [&](const std::string& why) {
        throw failure(fmt::format("descriptor {} ({}) of $LISTEN_FDS {}; give ListenStream=HOST:PORT",
                                  descriptor, name.empty() ? "without a name" : "named " + name, why));
    };
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) fail("is not open");
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&at), &size) != 0) fail("is not a socket");
    if ((at.ss_family != AF_INET && at.ss_family != AF_INET6) ||
        option_of(descriptor, SO_TYPE) != SOCK_STREAM)
        fail("is not a TCP socket");
    if (option_of(descriptor, SO_ACCEPTCONN) != 1)
        fail("does not listen (Accept=yes hands over connections)");
    return {descriptor, address_of(at, size), name == "tls"};
}

}  // namespace

std::vector<inherited_socket> inherited_sockets() {
    const auto count = number_in("LISTEN_FDS"), pid = number_in("LISTEN_PID");
    const auto names = names_of_sockets();
    for (const char* each : {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}) unsetenv(each);
    if (!count || *count == 0) return {};
    if (!pid)
        throw failure("$LISTEN_FDS is set and $LISTEN_PID is not; unset both, or set it to this process");
    if (*pid != getpid())
        throw failure(
            fmt::format("the sockets of $LISTEN_FDS are for process {} ($LISTEN_PID), and this is {}; start "
                        "posy by exec, or unset LISTEN_FDS and LISTEN_PID",
                        *pid, getpid()));
    if (*count > most_sockets)
        throw failure(fmt::format("$LISTEN_FDS is {}; at most {} sockets are taken", *count, most_sockets));
    std::vector<inherited_socket> all;
    for (int i = 0; i < *count; ++i)
        all.push_back(socket_of(first_descriptor + i, static_cast<std::size_t>(i) < names.size()
                                                          ? names[static_cast<std::size_t>(i)]
                                                          : ""));
    return all;
}

service_news::service_news() {
    if (const char* const to = std::getenv("NOTIFY_SOCKET")) to_ = to;
    if (!to_.empty() && ((to_[0] != '/' && to_[0] != '@') || to_.size() >= sizeof(sockaddr_un::sun_path)))
        throw failure("$NOTIFY_SOCKET is '" + to_ +
                      "', not a path or an abstract socket of at most 107 characters");
}

void service_news::ready(const std::string& status) const { tell("READY=1\nSTATUS=" + status); }

void service_news::reloading() const {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=reloading",
                     now.tv_sec * 1'000'000 + now.tv_nsec / 1000));
}

void service_news::stopping() const { tell("STOPPING=1\nSTATUS=stopping"); }

// Whoever does not listen any more needs no news.
void service_news::tell(const std::string& lines) const {
    if (to_.empty()) return;
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, to_.data(), to_.size());
    if (to_[0] == '@') at.sun_path[0] = '\0';
    const base::descriptor from(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (from.get() < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + to_.size());
    (void)!sendto(from.get(), lines.data(), lines.size(), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&at), size);
}

}  // namespace posy::tool
