// The other end of a conversation: a command's standard input and output, two named pipes, or our own
// standard input and output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "posy/base/file.hpp"

namespace posy::tool {

class peer {
  public:
    // Starts the command; its standard error stays ours.
    static peer command(const std::vector<std::string>& words);
    // Two named pipes; returns when the other side has opened them, too.
    static peer pipes(const std::string& in, const std::string& out);
    static peer standard();
    peer(peer&&) noexcept;
    peer& operator=(peer&&) = delete;
    ~peer();  // finishes

    int in() const { return in_.get(); }
    int out() const { return out_.get(); }
    // Waits until there is something to read; false if nothing more will come. Without waiting, a pipe that
    // is not yet open for writing looks like one at its end.
    bool wait() const;
    // Closes both ends. Waits for a command to end, and returns how it failed; nothing if it did not.
    std::string finish();

  private:
    peer(base::descriptor in, base::descriptor out, pid_t child)
        : in_(std::move(in)), out_(std::move(out)), child_(child) {}

    base::descriptor in_, out_;
    pid_t child_ = 0;  // 0: there is none
};

}  // namespace posy::tool
