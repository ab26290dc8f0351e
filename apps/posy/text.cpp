#include "text.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

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
        throw CLI::ValidationError("'" + text + "' is not an amount such as 1000, 10M or 64KiB");
    }
    const double amount = number * found->second;
    if (std::abs(amount - std::round(amount)) > 1e-6 * amount || (amount < 1 && number > 0)) {
        throw CLI::ValidationError("'" + text + "' is not a whole number");
    }
    return static_cast<std::uint64_t>(std::llround(amount));
}

}  // namespace posy::tool
