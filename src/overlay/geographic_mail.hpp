// The messages of geographic stations as bytes. The first byte is the kind; numbers are varints.
//
//   parcel, receipt   posy/overlay/courier.hpp; the records of a parcel are changes and moves
//     change          1, host, levels, 1 if it came and 0 if it left
//     move            2, host, moves
//   summary           square, then a message of a publisher (docs/format.md)
//   want              square
//   search            ticket, origin, host, forwards, distance, number of squares, squares
//   call              ticket, origin, host, square
//   answer            ticket, host, 0 or 1 + station, forwards, distance
//
// Reading checks every number against the field before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/reader.hpp"
#include "posy/overlay/square.hpp"

namespace posy::overlay::geographic_mail {

enum class kind : std::uint8_t { parcel = 1, receipt, summary, want, search, call, answer };

struct change {
    std::uint64_t host = 0;
    unsigned levels = 0;
    bool came = false;
};
struct move {
    std::uint64_t host = 0, moves = 0;
};
using record = std::variant<change, move>;

struct search {
    std::uint64_t ticket = 0, origin = 0, host = 0, forwards = 0, distance = 0;
    std::vector<square> next{};  // to be tried, the first first
};
struct call {
    std::uint64_t ticket = 0, origin = 0, host = 0;
    square region{};
};
struct answer {
    std::uint64_t ticket = 0, host = 0;
    std::optional<node_id> at{};
    std::uint64_t forwards = 0, distance = 0;
};

// A station tries at most three squares per level, and the way to it has as many levels.
constexpr std::size_t most_squares(unsigned levels) { return 3U * levels * (levels + 1) + 1; }

std::vector<std::byte> bytes_of(const record&);
std::vector<std::byte> bytes_of(const search&);
std::vector<std::byte> bytes_of(const call&);
std::vector<std::byte> bytes_of(const answer&);
std::vector<std::byte> bytes_of_summary(square, byte_view message);
std::vector<std::byte> bytes_of_want(square);

// Each takes what follows the kind; nothing if it is damaged or not of this field.
std::optional<std::vector<record>> read_records(byte_view, unsigned levels);
std::optional<search> read_search(byte_view, unsigned levels);
std::optional<call> read_call(byte_view, unsigned levels);
std::optional<answer> read_answer(byte_view, unsigned levels);
std::optional<square> read_want(byte_view, unsigned levels);
struct summary {
    square region;
    byte_view message;
};
std::optional<summary> read_summary(byte_view, unsigned levels);

}  // namespace posy::overlay::geographic_mail
