#include "reconcile_peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "tool.hpp"

namespace posy::tool {
namespace {

struct pipe_ends {
    base::descriptor from, to;
};

pipe_ends make_pipe() {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw failure(base::system_error("cannot make a pipe").message);
    return {base::descriptor(ends[0]), base::descriptor(ends[1])};
}

base::descriptor open_end(const std::string& path, int how) {
    base::descriptor file(open(path.c_str(), how | O_CLOEXEC));
    if (file.get() < 0) throw failure(path + ": " + base::system_error("cannot open").message);
    return file;
}

}  // namespace

peer peer::command(const std::vector<std::string>& words) {
    pipe_ends to_child = make_pipe(), from_child = make_pipe();
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child.from.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from_child.to.get(), STDOUT_FILENO);
    posix_spawnattr_t attributes;  // the child gets the usual SIGPIPE, which we ignore
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int wrong = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (wrong != 0) throw failure(words[0] + ": cannot run: " + std::strerror(wrong));
    return {std::move(from_child.from), std::move(to_child.to), child};
}

peer peer::pipes(const std::string& in, const std::string& out) {
    // A pipe opens for writing when there is a reader, and for reading at once if it need not wait for a
    // writer; so both sides can open `in` first.
    base::descriptor from = open_end(in, O_RDONLY | O_NONBLOCK);
    if (fcntl(from.get(), F_SETFL, 0) != 0)
        throw failure(in + ": " + base::system_error("cannot read").message);
    base::descriptor to = open_end(out, O_WRONLY);
    return {std::move(from), std::move(to), 0};
}

bool peer::wait() const {
    pollfd until{in_.get(), POLLIN, 0};
    while (poll(&until, 1, -1) < 0 && errno == EINTR) continue;
    return (until.revents & POLLHUP) == 0 || (until.revents & POLLIN) != 0;
}

peer peer::standard() {
    return {base::descriptor(dup(STDIN_FILENO)), base::descriptor(dup(STDOUT_FILENO)), 0};
}

peer::peer(peer&& other) noexcept
    : in_(std::move(other.in_)), out_(std::move(other.out_)), child_(std::exchange(other.child_, 0)) {}

peer::~peer() { finish(); }

std::string peer::finish() {
    in_ = base::descriptor();
    out_ = base::descriptor();
    if (child_ == 0) return {};
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) continue;
    child_ = 0;
    if (WIFSIGNALED(status)) return std::string("was ended by a signal: ") + strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace posy::tool
