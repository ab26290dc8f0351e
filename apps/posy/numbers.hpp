// Numbers as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/estimate.hpp"

namespace posy::tool {

std::string count(double n);         // 1,234,567
std::string bytes(std::uint64_t n);  // 1,250,000 bytes (1.2 MiB)
std::string rate(double share);      // 0.00819 (1 in 122)
// With this many digits behind the point; in other ways only what would be shown as 0 and is not.
std::string fixed(double x, int digits);
std::string range(const estimate&);  // 1,000,213 (999,300 … 1,001,100); at least 12,345

// An estimate for programs; what is not finite is null.
nlohmann::ordered_json to_json(const estimate&);

// Columns aligned on the widest cell; the first column to the left, the others to the right.
std::string table(const std::vector<std::vector<std::string>>& rows);

// "10M" → 10,000,000, also "10m"; "1,000"; "1.5G"; "64KiB" → 65,536; "2^20", "10^6". Throws wrong_use.
std::uint64_t parse_amount(const std::string& text);
// What the help says of it.
inline constexpr const char* amount_units =
    "In amounts, k, M, G and T stand for powers of 1000; KiB, MiB, GiB and TiB for powers of 1024.";

// All of the text as a number.
std::optional<double> parse_number(std::string_view text);

// A share of 1, also as "1%" or "1/1000".
std::optional<double> parse_share(std::string_view text);

// "12.5" → 12,500 with three decimals; digits beyond them are cut off. Nothing if that is not all of the
// text, or not below 2^64.
std::optional<std::uint64_t> parse_decimal(std::string_view text, unsigned decimals);

// "90", "90s", "0.5s", "500ms", "10m", "10min", "1.5h", "2h30m", "7d" or "1w". Throws failure, which names
// the option.
std::chrono::microseconds parse_duration(const std::string& option, const std::string& text);

// The same the other way round: "1w", "2h30m", "0.5s".
std::string duration(std::chrono::microseconds);

// A time since 1970, in units of 10^-decimals seconds: a number of seconds, or a date and time of ISO 8601,
// e.g. 2026-05-01T12:30:00.25+02:00; without an offset it is UTC.
std::optional<std::uint64_t> parse_time(std::string_view text, unsigned decimals);

}  // namespace posy::tool
