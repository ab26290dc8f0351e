// The access log: a line for each request, at its end, in the format that the operator's tools read.
//
//   common    who - user [when] "request" status bytes           as Apache writes it
//   combined  the same, "referer" "agent"                         as Apache writes it
//   cache     the same, how it was answered, and in how many milliseconds
//   json      an object with all of that
//
// "When" is the time at which the request arrived, bytes are those of the body that were sent. Lines are
// gathered and written once a second, or when there are 64 KiB of them: a log line is a copy, not a system
// call. What cannot be written is reported once, until it can be, and the lost lines are counted. Time is
// handed in. Thread safety: all calls from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "http/journal.hpp"
#include "posy/base/file.hpp"
#include "posy/base/names.hpp"

namespace posy::proxy {

enum class log_format : std::uint8_t { common, combined, cache, json };
constexpr std::string_view name_of(log_format member) {
    switch (member) {
        case log_format::common:
            return "common";
        case log_format::combined:
            return "combined";
        case log_format::cache:
            return "cache";
        case log_format::json:
            return "json";
    }
    return {};
}

// One request. Empty texts are unknown.
struct log_entry {
    std::string_view who, user{}, method{}, target{}, referer{}, agent{};
    int version = 0;  // 10 or 11; 0: no request arrived
    unsigned status = 0;
    std::uint64_t bytes = 0;
    std::string_view result{};  // one word
    std::string_view why{};     // it was refused
    std::chrono::milliseconds at{};
    std::chrono::microseconds took{};
};

class access_log {
  public:
    // Appends to the file; "-" is standard output, empty logs nothing. Throws std::runtime_error.
    access_log(const std::string& path, log_format, http::journal&);
    ~access_log();

    bool on() const { return on_; }
    void write(const log_entry&);
    void flush();
    // Opens the file again, which may have been renamed. What fails is reported, and the old file stays in
    // use.
    void reopen();
    // The file of that path, for use(), in a folder that is made if it is missing; none for an empty one.
    // Throws std::runtime_error.
    static base::descriptor open(const std::string& path);
    void use(const std::string& path, log_format, base::descriptor);
    // Could open() work? Makes nothing, and throws std::runtime_error.
    static void check(const std::string& path);
    // Lines that could not be written.
    std::uint64_t lost() const { return lost_; }

  private:
    // Under the lock.
    void put();
    void change(const std::string& path, log_format, base::descriptor);

    http::journal& journal_;
    std::atomic<bool> on_{false};
    std::atomic<std::uint64_t> lost_{0};
    std::mutex mutex_;
    std::string path_;
    log_format format_;
    base::descriptor file_;
    std::string waiting_;
    bool failing_ = false, torn_ = false;
    std::int64_t stamped_ = -1;  // the second of `stamp_`
    std::string stamp_;
};

}  // namespace posy::proxy
