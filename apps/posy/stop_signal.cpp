#include "stop_signal.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "posy/base/file.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {
// A signal handler gets no argument of ours: where it writes must be global. Set before the handler is.
int told = -1;
}  // namespace

int stop_on_signal() {
    told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (told < 0) throw failure(base::system_error("cannot wait for signals").message);
    struct sigaction how {};
    how.sa_handler = [](int) {
        const int before = errno;
        const std::uint64_t one = 1;
        (void)!write(told, &one, sizeof one);
        errno = before;
    };
    how.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction old {};
        if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;  // ignored on purpose, e.g. by nohup
        sigaction(signal, &how, nullptr);
    }
    return told;
}

}  // namespace posy::tool
