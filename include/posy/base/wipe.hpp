// Secrets are overwritten before their memory is given back, in a way that compilers do not leave out, and
// until then no crash writes them to a file.
//
// A text that grows leaves copies behind: reserve() what a secret will need. Thread safety: none.
#pragma once

#include <string.h>
#include <sys/prctl.h>

#include <array>
#include <string>

namespace posy::base {

// The text is empty afterwards, and of what it held, also beyond its end, nothing is left.
inline void wipe(std::string& secret) {
    secret.resize(secret.capacity());
    explicit_bzero(secret.data(), secret.size());
    secret.clear();
}

// What functions that have returned left on the stack, as copies of registers: 16 KiB of it.
[[gnu::noinline]] inline void wipe_stack() {
    std::array<char, 16 * 1024> below;
    explicit_bzero(below.data(), below.size());
}

// From now on, a crash of this process leaves no core dump.
inline void forbid_core_dumps() { prctl(PR_SET_DUMPABLE, 0); }

// A text that is wiped at the end of its scope.
class secret_text {
  public:
    explicit secret_text(std::size_t room = 0) { text_.reserve(room); }
    ~secret_text() { wipe(text_); }
    secret_text(const secret_text&) = delete;
    secret_text& operator=(const secret_text&) = delete;

    std::string& operator*() { return text_; }
    std::string* operator->() { return &text_; }

  private:
    std::string text_;
};

}  // namespace posy::base
