#include "child.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "posy/base/file.hpp"

namespace posy::lab {

namespace {

sockaddr_in loopback_socket(std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    return at;
}

bool answers(std::uint16_t port) {
    const base::descriptor s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto at = loopback_socket(port);
    return connect(s.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
}

}  // namespace

// Linux gives connections ports from 32768 on: one of those could be taken before a child listens on it.
std::vector<std::uint16_t> free_ports(std::size_t count) {
    std::vector<std::uint16_t> ports;
    std::vector<base::descriptor> taken;  // so that all are different
    std::random_device random;
    std::uniform_int_distribution<std::uint16_t> any(10'000, 32'767);
    for (int tries = 10'000; ports.size() < count; --tries) {
        base::descriptor s(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const auto at = loopback_socket(any(random));
        if (bind(s.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
            ports.push_back(ntohs(at.sin_port));
            taken.push_back(std::move(s));
        } else if (errno != EADDRINUSE || tries == 0) {
            throw std::runtime_error(
                fmt::format("cannot get a free port on the loopback: {}", std::strerror(errno)));
        }
    }
    return ports;
}

child::child(const std::vector<std::string>& arguments, std::uint16_t port, const std::string& log)
    : port_(port) {
    std::vector<std::string> all{"posy"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (auto& each : all) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("cannot start another process");
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child never outlives this process
        if (getppid() != parent) _exit(1);
        const int out = open(log.empty() ? "/dev/null" : log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
        dup2(out, STDERR_FILENO);
        dup2(out, STDOUT_FILENO);
        execv("/proc/self/exe", pointers.data());
        _exit(127);
    }
    for (int i = 0; i < 1000; ++i) {
        if (answers(port_)) return;
        if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
            pid_ = -1;
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error(fmt::format("'posy {}' did not start", fmt::join(arguments, " ")));
}

child::child(child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), port_(other.port_) {}

child::~child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    for (int i = 0; i < 100; ++i) {
        if (waitpid(pid_, nullptr, WNOHANG) == pid_) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

double child::cpu_seconds() const {
    std::ifstream file(fmt::format("/proc/{}/stat", pid_));
    std::string line;
    std::getline(file, line);
    std::istringstream rest(line.substr(std::min(line.rfind(')') + 2, line.size())));
    std::string skipped;
    for (int i = 0; i < 11; ++i) rest >> skipped;
    double user = 0, system = 0;
    rest >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t child::memory() const {
    std::ifstream file(fmt::format("/proc/{}/statm", pid_));
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace posy::lab
