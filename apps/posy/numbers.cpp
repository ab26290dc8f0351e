#include "numbers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "tool.hpp"

namespace posy::tool {

std::string count(double n) {
    if (std::isinf(n)) return "unbounded";
    std::string digits = fmt::format("{:.0f}", n);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
}

std::string bytes(std::uint64_t n) {
    static constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
    std::string exact = count(static_cast<double>(n)) + " bytes";
    if (n < 1024) return exact;
    auto amount = static_cast<double>(n) / 1024;
    std::size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
    return fmt::format("{} ({:.1f} {})", exact, amount, units[unit]);
}

std::string rate(double share) {
    if (share <= 0) return "0";
    return fmt::format("{:.4g} (1 in {})", share, count(1 / share));
}

std::string fixed(double x, int digits) {
    const bool vanishes = x != 0 && std::abs(x) < 0.5 * std::pow(10, -digits);
    return vanishes ? fmt::format("{:.2g}", x) : fmt::format("{:.{}f}", x, digits);
}

std::string range(const estimate& e) {
    if (std::isinf(e.high)) return "at least " + count(e.low);
    return fmt::format("{} ({} … {})", count(e.value), count(e.low), count(e.high));
}

nlohmann::ordered_json to_json(const estimate& e) {
    const auto number = [](double x) {
        return std::isfinite(x) ? nlohmann::ordered_json(x) : nlohmann::ordered_json(nullptr);
    };
    return {{"value", number(e.value)}, {"low", number(e.low)}, {"high", number(e.high)}};
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
    // Width in characters, not bytes: continuation bytes of UTF-8 take no column.
    const auto width = [](const std::string& cell) {
        return static_cast<std::size_t>(
            std::ranges::count_if(cell, [](char c) { return (c & 0xc0) != 0x80; }));
    };
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string pad(widths[i] - width(row[i]), ' ');
            line += i == 0 ? row[i] + pad : "  " + pad + row[i];
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

namespace {

// The factor of a unit: K, M, G, T are powers of 1000 whatever their case, KiB, MiB … of 1024.
std::optional<double> factor_of(std::string unit) {
    for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (unit.empty() || unit == "b") return 1;
    constexpr std::string_view prefixes = "kmgt";
    const std::size_t power = prefixes.find(unit[0]);
    if (power == std::string_view::npos) return std::nullopt;
    const std::string rest = unit.substr(1);
    if (rest.empty() || rest == "b") return std::pow(1000, power + 1);
    if (rest == "ib" || rest == "i") return std::pow(1024, power + 1);
    return std::nullopt;
}

// "1,000,000" → "1000000"; nothing if commas stand anywhere else.
std::optional<std::string> without_commas(const std::string& text) {
    const std::size_t first = text.find(',');
    if (first == std::string::npos) return text;
    const auto is_digit = [&](std::size_t at) {
        return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    std::string plain = text.substr(0, first);
    std::size_t at = first;
    for (; at < text.size() && text[at] == ','; at += 4) {
        if (!is_digit(at + 1) || !is_digit(at + 2) || !is_digit(at + 3)) return std::nullopt;
        plain += text.substr(at + 1, 3);
    }
    if (first == 0 || first > 3 || is_digit(at)) return std::nullopt;
    return plain + text.substr(at);
}

// "2^20", "10^6"; nothing above the largest amount.
std::optional<std::uint64_t> power_in(const std::string& text) {
    const std::size_t sign = text.find('^');
    if (sign == std::string::npos) return std::nullopt;
    const std::string base = text.substr(0, sign);
    const auto power = parse_decimal(std::string_view(text).substr(sign + 1), 0);
    if (base == "2" && power && *power < 60) return std::uint64_t{1} << *power;
    if (base != "10" || !power || *power > 18) return std::nullopt;
    std::uint64_t amount = 1;
    for (std::uint64_t i = 0; i < *power; ++i) amount *= 10;
    return amount;
}

}  // namespace

std::uint64_t parse_amount(const std::string& given) {
    constexpr std::uint64_t largest_amount = 1'000'000'000'000'000'000;
    const std::string text = without_commas(given).value_or("?");
    if (const auto power = power_in(text)) return *power;
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
    if (const auto whole = parse_decimal(text, 0); digits && whole && *whole <= largest_amount) return *whole;
    double number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto factor = factor_of({end, text.data() + text.size()});
    if (wrong != std::errc{} || !factor || !(number >= 0) || number * *factor > double{largest_amount}) {
        throw wrong_use("'" + given + "' is not an amount such as 1000, 10M (10,000,000) or 64KiB (65,536)");
    }
    const double amount = number * *factor;
    if (std::abs(amount - std::round(amount)) > 1e-6 * amount || (amount < 1 && number > 0)) {
        throw wrong_use("'" + given + "' is not a whole number");
    }
    return static_cast<std::uint64_t>(std::llround(amount));
}

std::optional<double> parse_number(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, wrong] = std::from_chars(text.data(), end, number);
    return wrong == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

std::optional<double> parse_share(std::string_view text) {
    const std::size_t stroke = text.find('/');
    if (stroke != std::string_view::npos) {
        const auto part = parse_number(text.substr(0, stroke)), whole = parse_number(text.substr(stroke + 1));
        return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
    }
    if (!text.ends_with('%')) return parse_number(text);
    text.remove_suffix(1);
    const auto percent = parse_number(text);
    return percent ? std::optional(*percent / 100) : std::nullopt;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text, unsigned decimals) {
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string digits(text.substr(0, point));
    if (point < text.size()) {
        const std::string_view behind = text.substr(point + 1);
        if (behind.empty() || behind.find_first_not_of("0123456789") != std::string_view::npos) return {};
        digits += behind.substr(0, decimals);
        decimals -= static_cast<unsigned>(std::min<std::size_t>(decimals, behind.size()));
    }
    for (; decimals != 0; --decimals) digits.push_back('0');
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, wrong] = std::from_chars(digits.data(), end, number);
    return point > 0 && wrong == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

namespace {

struct unit_of_time {
    std::string_view name;
    std::uint64_t thousandths;  // of a second
};
constexpr std::array<unit_of_time, 8> units{{{"w", 604'800'000},
                                             {"d", 86'400'000},
                                             {"h", 3'600'000},
                                             {"min", 60'000},
                                             {"m", 60'000},
                                             {"s", 1000},
                                             {"ms", 1},
                                             {"", 1000}}};

}  // namespace

std::string duration(std::chrono::microseconds time) {
    auto left = static_cast<std::uint64_t>(time.count());
    std::string text;
    for (const auto& [name, thousandths] : units) {
        if (name == "min") continue;  // which is m
        const std::uint64_t each = 1000 * thousandths;
        if (name == "s" && (left > 0 || text.empty()))
            return text + fmt::format("{}s", static_cast<double>(left) / 1e6);
        if (left >= each) text += fmt::format("{}{}", left / each, name);
        left %= each;
        if (left == 0 && !text.empty()) break;
    }
    return text;
}

std::chrono::microseconds parse_duration(const std::string& option, const std::string& text) {
    std::uint64_t total = 0;
    std::size_t used = 0;  // units, the largest first
    std::string_view rest = text;
    do {
        const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
        const auto number = parse_decimal(rest.substr(0, digits), 6);
        rest.remove_prefix(digits);
        const std::string_view name =
            rest.substr(0, std::min(rest.find_first_of("0123456789."), rest.size()));
        while (used < units.size() && (units[used].name != name || (name.empty() && total != 0))) ++used;
        if (!number || used == units.size() || *number > 100'000'000'000'000)
            throw failure(option + " " + text + ": give a time such as 90s, 0.5s, 10m, 2h30m, 7d or 1w");
        // In two steps: the product of all would not fit.
        total += *number / 1000 * units[used].thousandths + *number % 1000 * units[used].thousandths / 1000;
        if (units[used++].name == "min") ++used;  // which is m
        rest.remove_prefix(name.size());
    } while (!rest.empty());
    return std::chrono::microseconds(total);
}

namespace {

// Takes a number of this many digits off the text.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
    int number = 0;
    if (text.size() < digits) return std::nullopt;
    const auto [at, wrong] = std::from_chars(text.data(), text.data() + digits, number);
    if (wrong != std::errc{} || at != text.data() + digits || number < 0) return std::nullopt;
    text.remove_prefix(digits);
    return number;
}
bool take_one_of(std::string_view& text, std::string_view characters) {
    if (text.empty() || characters.find(text[0]) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// Z, +02:00, -0530, +02, or nothing, which is UTC; as seconds east.
std::optional<int> offset_in(std::string_view text) {
    if (text.empty() || text == "Z" || text == "z") return 0;
    const int sign = text[0] == '-' ? -1 : 1;
    if (!take_one_of(text, "+-")) return std::nullopt;
    const auto hours = take_digits(text, 2);
    take_one_of(text, ":");
    const auto minutes = text.empty() ? 0 : take_digits(text, 2);
    if (!hours || !minutes || !text.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
    return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<std::uint64_t> parse_time(std::string_view text, unsigned decimals) {
    if (const auto seconds = parse_decimal(text, decimals)) return seconds;
    const auto year = take_digits(text, 4);
    const bool first = take_one_of(text, "-");
    const auto month = take_digits(text, 2);
    const bool second = take_one_of(text, "-");
    const auto day = take_digits(text, 2);
    if (!year || !first || !month || !second || !day) return std::nullopt;
    const std::chrono::year_month_day date(std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day)));
    std::optional<int> hours = 0, minutes = 0, seconds = 0;
    std::string fraction = "0";
    if (take_one_of(text, "Tt ")) {
        hours = take_digits(text, 2);
        minutes = take_one_of(text, ":") ? take_digits(text, 2) : std::nullopt;
        if (take_one_of(text, ":")) seconds = take_digits(text, 2);
        if (take_one_of(text, ".,")) {
            const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
            if (digits == 0) return std::nullopt;
            fraction += "." + std::string(text.substr(0, digits));
            text.remove_prefix(digits);
        }
    }
    const auto east = offset_in(text);
    if (!date.ok() || !hours || !minutes || !seconds || !east || *hours > 23 || *minutes > 59 ||
        *seconds > 60)
        return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    const std::int64_t whole = days * 86'400 + *hours * 3600 + *minutes * 60 + *seconds - *east;
    if (whole < 0) return std::nullopt;
    const auto part = parse_decimal(fraction, decimals);
    const auto units = parse_decimal(std::to_string(whole), decimals);
    return part && units ? std::optional(*units + *part) : std::nullopt;
}

}  // namespace posy::tool
