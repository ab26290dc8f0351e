// One writer at a time: a process that reads a file, changes it and writes it back holds its lock throughout.
//
// The lock is a file beside the target, NAME.posy-lock, held by flock(2), because the target itself is
// replaced by a rename and may not exist yet. The system releases the lock of a process that ends in any way;
// a lock file that a kill left behind is taken over by the next writer and removed after it. Readers need no
// lock: a rename is atomic.
//
// Invariant: of all processes that hold the lock of a path, one has locked the file that the path names.
// Cost: an open, a lock and an unlink; a waiting process tries again at most every 50 ms.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "posy/base/file.hpp"

namespace posy::base {

// The process that has locked this file with flock(2), as the system knows it (/proc/locks); 0: it does not
// say, because that one runs in another container, on another machine, or has let go by now.
int flock_holder(int file);
// "another process uses it (process 4711); stop that one first"
error used_by(int holder);

class file_lock {
  public:
    struct patience {
        std::chrono::milliseconds limit{0};         // after which waiting fails; 0: do not wait
        std::chrono::milliseconds quiet{1000};      // on_wait is called once, after this long
        std::function<void(int holder)> on_wait{};  // with the holder's process id, 0 if that is not known
    };

    // A link is followed. A target that exists and is not a regular file needs no lock: it is written
    // directly.
    static result<file_lock> take(const std::filesystem::path& target, const patience&);
    file_lock(file_lock&&) noexcept;
    file_lock& operator=(file_lock&&) = delete;
    ~file_lock();

  private:
    file_lock(descriptor file, std::filesystem::path name) : file_(std::move(file)), name_(std::move(name)) {}

    descriptor file_;
    std::filesystem::path name_;  // empty: nothing is locked
};

}  // namespace posy::base
