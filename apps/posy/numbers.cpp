#include "numbers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
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

std::uint64_t parse_amount(const std::string& text) {
    if (text.starts_with("2^")) {
        unsigned power = 0;
        const char* const all = text.data() + text.size();
        const auto [end, wrong] = std::from_chars(text.data() + 2, all, power);
        if (wrong == std::errc{} && end == all && power < 60) return std::uint64_t{1} << power;
    }
    double number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(end, text.data() + text.size());
    static const std::vector<std::pair<std::string, double>> units{{"", 1},
                                                                   {"k", 1e3},
                                                                   {"K", 1e3},
                                                                   {"M", 1e6},
                                                                   {"G", 1e9},
                                                                   {"T", 1e12},
                                                                   {"KiB", 1024},
                                                                   {"MiB", 1 << 20},
                                                                   {"GiB", 1073741824.0},
                                                                   {"TiB", 1099511627776.0},
                                                                   {"kB", 1e3},
                                                                   {"MB", 1e6},
                                                                   {"GB", 1e9}};
    const auto found = std::ranges::find(units, unit, &std::pair<std::string, double>::first);
    if (wrong != std::errc{} || found == units.end() || !(number >= 0) || number * found->second > 1e18) {
        throw wrong_use("'" + text + "' is not an amount such as 1000, 10M or 64KiB");
    }
    const double amount = number * found->second;
    if (std::abs(amount - std::round(amount)) > 1e-6 * amount || (amount < 1 && number > 0)) {
        throw wrong_use("'" + text + "' is not a whole number");
    }
    return static_cast<std::uint64_t>(std::llround(amount));
}

std::optional<double> parse_number(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, wrong] = std::from_chars(text.data(), end, number);
    return wrong == std::errc{} && at == end ? std::optional(number) : std::nullopt;
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
    digits.append(decimals, '0');
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, wrong] = std::from_chars(digits.data(), end, number);
    return point > 0 && wrong == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

std::chrono::microseconds parse_duration(const std::string& option, const std::string& text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = parse_decimal(text.substr(0, digits), 6);
    for (const auto& [name, seconds] :
         {std::pair<std::string_view, int>{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}}) {
        if (number && text.substr(digits) == name && *number <= 100'000'000'000'000)
            return std::chrono::microseconds(*number) * seconds;
    }
    throw failure(option + " " + text + ": give a time such as 90s, 0.5s, 10m, 6h or 7d");
}

}  // namespace posy::tool
