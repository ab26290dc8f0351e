// The journal: what a daemon tells its operator, one line per event, with its time and how grave it is.
//
// On a terminal or in a file a line starts with the time (UTC, RFC 3339) and the level; where systemd's
// journal reads standard error, which knows the time itself, with the priority that it understands ("<4>").
// What others sent may be in a text: control characters are escaped, so that nobody writes a line of their
// own. A line is one write. It is handed in, like the time.
//
// What strangers or a dead server can cause as often as they like is told sparingly: of each kind the first
// line, and then one per second that says how many there were. Thread safety: all calls from any thread.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "posy/base/names.hpp"
#include "timekeeper.hpp"

namespace posy::http {

enum class log_level : std::uint8_t {
    error,    // something is lost or does not work
    warning,  // it works, but somebody should look
    info,     // what happens
};
constexpr std::string_view name_of(log_level member) {
    switch (member) {
        case log_level::error:
            return "error";
        case log_level::warning:
            return "warning";
        case log_level::info:
            return "info";
    }
    return {};
}

class journal {
  public:
    enum class style { times, priorities };
    using sink = std::function<void(std::string_view line)>;

    // Tells nobody.
    journal() = default;
    // To standard error, in the style that its reader expects.
    explicit journal(const timekeeper&);
    journal(const timekeeper&, style, sink);

    // Events that are less grave are left out.
    void set_level(log_level least) { level_ = least; }
    bool tells(log_level l) const { return write_ && l <= level_.load(std::memory_order_relaxed); }

    template <class... Values>
    void error(fmt::format_string<Values...> text, Values&&... values) {
        tell(log_level::error, fmt::format(text, std::forward<Values>(values)...));
    }
    template <class... Values>
    void warning(fmt::format_string<Values...> text, Values&&... values) {
        tell(log_level::warning, fmt::format(text, std::forward<Values>(values)...));
    }
    template <class... Values>
    void info(fmt::format_string<Values...> text, Values&&... values) {
        tell(log_level::info, fmt::format(text, std::forward<Values>(values)...));
    }
    void tell(log_level, std::string_view text);

    static constexpr std::chrono::seconds pause{1};  // between two lines of a kind
    // Of a kind the first line, and then the last one of each pause, with the number of those before it.
    // There are few kinds: no sender may choose them.
    template <class... Values>
    void sparingly(log_level l, std::string_view kind, fmt::format_string<Values...> text,
                   Values&&... values) {
        if (tells(l)) tell_sparingly(l, kind, fmt::format(text, std::forward<Values>(values)...));
    }
    // Tells of what was held back, where the pause is over. To be called about as often.
    void catch_up() { tell_held_back(false); }
    // Of all of it, at the end.
    void finish() { tell_held_back(true); }

  private:
    struct crowd {
        clock::time_point until;      // the pause
        std::uint64_t held_back = 0;  // lines,
        std::string last{};           // of which this is the last
        std::chrono::milliseconds since{};
        log_level level{};
    };
    void tell_sparingly(log_level, std::string_view kind, std::string text);
    void tell_held_back(bool all);

    const timekeeper* time_ = nullptr;
    style style_ = style::times;
    sink write_;
    std::atomic<log_level> level_{log_level::info};
    std::mutex mutex_;
    std::map<std::string, crowd, std::less<>> crowds_;
};

// "2026-11-18T07:52:22.123Z"
std::string rfc_3339(std::chrono::milliseconds since_1970);
// Does what is written to standard error go to systemd's journal? `stream` is $JOURNAL_STREAM,
// "DEVICE:INODE".
bool reads_standard_error(std::string_view stream);

}  // namespace posy::http
