#include "posy/http_cache/http_date.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "text.hpp"

namespace posy::http_cache {

namespace {

constexpr std::array<std::string_view, 7> weekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr seconds day_length = 24 * 60 * 60;
constexpr seconds fifty_years = 50 * seconds{31556952};  // of 365.2425 days
constexpr seconds first_moment = -62167219200;           // 0000-01-01 00:00:00
constexpr seconds last_moment = 253402300799;            // 9999-12-31 23:59:59

// Reads a date from left to right; the first thing that does not fit makes all of it wrong. Letters may have
// any case: some origins shout.
class scanner {
  public:
    explicit scanner(std::string_view text) : rest_(text) {}

    bool skip(std::string_view literal) {
        const bool there = same_name(rest_.substr(0, literal.size()), literal);
        if (there) rest_.remove_prefix(literal.size());
        return there;
    }
    void expect(std::string_view literal) { good_ &= skip(literal); }
    int number(std::size_t digits) {
        const auto value = rest_.size() < digits ? std::nullopt : decimal(rest_.substr(0, digits), 9999);
        good_ &= value.has_value();
        if (value) rest_.remove_prefix(digits);
        return static_cast<int>(value.value_or(0));
    }
    // Which of the names stands here, each cut to `length` letters.
    template <std::size_t Count>
    unsigned one_of(const std::array<std::string_view, Count>& names, std::size_t length) {
        const auto found =
            std::ranges::find_if(names, [&](auto name) { return skip(name.substr(0, length)); });
        good_ &= found != names.end();
        return static_cast<unsigned>(found - names.begin());
    }
    bool finished() const { return good_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool good_ = true;
};

struct civil_time {
    int year = 0;
    unsigned month = 0;  // from 0
    int day = 0, hour = 0, minute = 0, second = 0;

    void read_clock(scanner& text) {
        hour = text.number(2);
        text.expect(":");
        minute = text.number(2);
        text.expect(":");
        second = text.number(2);
    }
};

std::optional<seconds> moment(const civil_time& t) {
    using namespace std::chrono;
    const year_month_day date{year(t.year), month(t.month + 1), day(static_cast<unsigned>(t.day))};
    // A second 60 is a leap second, which this scale of time counts as the next one.
    if (!date.ok() || t.hour > 23 || t.minute > 59 || t.second > 60) return std::nullopt;
    const seconds days = sys_days(date).time_since_epoch().count();
    return days * day_length + t.hour * 3600 + t.minute * 60 + t.second;
}

int year_of(seconds when) {
    using namespace std::chrono;
    const auto date = floor<days>(sys_seconds(std::chrono::seconds(when)));
    return static_cast<int>(year_month_day(date).year());
}

std::optional<seconds> parse_fixdate(scanner text) {  // Sun, 06 Nov 1994 08:49:37 GMT
    civil_time t;
    text.one_of(weekdays, 3);
    text.expect(", ");
    t.day = text.number(2);
    text.expect(" ");
    t.month = text.one_of(months, 3);
    text.expect(" ");
    t.year = text.number(4);
    text.expect(" ");
    t.read_clock(text);
    text.expect(" GMT");
    return text.finished() ? moment(t) : std::nullopt;
}

std::optional<seconds> parse_rfc850(scanner text, seconds now) {  // Sunday, 06-Nov-94 08:49:37 GMT
    civil_time t;
    text.one_of(weekdays, std::string_view::npos);
    text.expect(", ");
    t.day = text.number(2);
    text.expect("-");
    t.month = text.one_of(months, 3);
    text.expect("-");
    const int of_century = text.number(2);
    text.expect(" ");
    t.read_clock(text);
    text.expect(" GMT");
    if (!text.finished()) return std::nullopt;
    // The latest year of these two digits that is not more than 50 years ahead.
    const int last = year_of(now + fifty_years);
    t.year = last - ((last - of_century) % 100 + 100) % 100;
    const auto when = moment(t);
    if (!when || *when <= now + fifty_years) return when;
    t.year -= 100;
    return moment(t);
}

std::optional<seconds> parse_asctime(scanner text) {  // Sun Nov  6 08:49:37 1994
    civil_time t;
    text.one_of(weekdays, 3);
    text.expect(" ");
    t.month = text.one_of(months, 3);
    text.expect(" ");
    t.day = text.skip(" ") ? text.number(1) : text.number(2);
    text.expect(" ");
    t.read_clock(text);
    text.expect(" ");
    t.year = text.number(4);
    return text.finished() ? moment(t) : std::nullopt;
}

void append_padded(std::string& to, int value, std::size_t width) {
    const auto digits = std::to_string(value);
    to.append(width - digits.size(), '0').append(digits);
}

}  // namespace

std::optional<seconds> parse_http_date(std::string_view text, seconds now) {
    const scanner from(trimmed(text));
    if (const auto when = parse_fixdate(from)) return when;
    if (const auto when = parse_rfc850(from, std::clamp(now, seconds{0}, last_moment))) return when;
    return parse_asctime(from);
}

std::string http_date(seconds when) {
    using namespace std::chrono;
    const sys_seconds moment_of{std::chrono::seconds(std::clamp(when, first_moment, last_moment))};
    const auto midnight = floor<days>(moment_of);
    const year_month_day date(midnight);
    const hh_mm_ss clock(moment_of - midnight);
    std::string text;
    text.reserve(29);
    text.append(weekdays[weekday(midnight).c_encoding()].substr(0, 3)).append(", ");
    append_padded(text, static_cast<int>(static_cast<unsigned>(date.day())), 2);
    text.append(" ").append(months[static_cast<unsigned>(date.month()) - 1]).append(" ");
    append_padded(text, static_cast<int>(date.year()), 4);
    text += ' ';
    append_padded(text, static_cast<int>(clock.hours().count()), 2);
    text += ':';
    append_padded(text, static_cast<int>(clock.minutes().count()), 2);
    text += ':';
    append_padded(text, static_cast<int>(clock.seconds().count()), 2);
    return text += " GMT";
}

}  // namespace posy::http_cache
