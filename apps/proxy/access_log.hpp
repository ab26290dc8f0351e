// The access log, in the common format: who - - [when] "request" status bytes.
//
// Lines are gathered and written once a second, or when there are 64 KiB of them: a log line is a copy, not a
// system call. Time is handed in. Thread safety: all calls from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace posy::proxy {

class access_log {
  public:
    // Appends to the file; "-" is standard output, empty logs nothing. Throws std::runtime_error.
    explicit access_log(const std::string& path);
    ~access_log();

    bool on() const { return file_ >= 0; }
    // `now` in seconds since 1970.
    void write(std::string_view who, std::string_view method, std::string_view target, unsigned status,
               std::uint64_t bytes, std::int64_t now);
    void flush();

  private:
    int file_ = -1;
    std::mutex mutex_;
    std::string waiting_;
    std::int64_t stamped_ = -1;  // the second of `stamp_`
    std::string stamp_;
};

}  // namespace posy::proxy
