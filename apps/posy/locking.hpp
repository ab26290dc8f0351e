// Commands that replace a file take turns: see posy/base/file_lock.hpp.
//
// A command that reads a file and writes it back holds the lock from the first byte read to the last written;
// one that only replaces a file holds it while it writes. So the result is always as if the commands had run
// one after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posy/base/file_lock.hpp"

namespace posy::tool {

class command_line;

struct lock_options {
    double wait = 300;  // seconds
    void add_to(command_line&);
};

class change_lock {
  public:
    // Locks the output if it is one of the inputs; "-" and devices need no lock. Throws failure if another
    // process does not release it in time.
    static change_lock to_change(const std::vector<std::string>& inputs, const std::string& output,
                                 const lock_options& = {});
    // Locks a file that is replaced, unless `held` is its lock already; waits as long as `held` would.
    static change_lock to_replace(const std::string& output, const change_lock* held = nullptr);

  private:
    // None yet.
    explicit change_lock(const lock_options& how) : how_(how) {}
    // `option`: the command has --lock-wait.
    change_lock(const std::string& path, const lock_options&, bool option);

    lock_options how_;
    std::string path_;  // of the locked file; empty: none
    std::optional<base::file_lock> lock_;
};

}  // namespace posy::tool
