#include "posy/packet/flow_records.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>

#include "posy/packet/address_prefix.hpp"

namespace posy::packets {

namespace {
using column = flow_table::column;

struct known_name {
    std::string_view name;  // letters and digits only, small
    column is;
};
constexpr known_name known_names[] = {
    {"src", column::source},
    {"sa", column::source},
    {"sip", column::source},
    {"srcip", column::source},
    {"srcaddr", column::source},
    {"sourceip", column::source},
    {"sourceaddress", column::source},
    {"src4addr", column::source},
    {"src6addr", column::source},
    {"ipv4srcaddr", column::source},
    {"ipv6srcaddr", column::source},
    {"sourceipv4address", column::source},
    {"sourceipv6address", column::source},
    {"dst", column::destination},
    {"da", column::destination},
    {"dip", column::destination},
    {"dstip", column::destination},
    {"dstaddr", column::destination},
    {"destinationip", column::destination},
    {"destinationaddress", column::destination},
    {"dst4addr", column::destination},
    {"dst6addr", column::destination},
    {"ipv4dstaddr", column::destination},
    {"ipv6dstaddr", column::destination},
    {"destinationipv4address", column::destination},
    {"destinationipv6address", column::destination},
    {"sp", column::source_port},
    {"sport", column::source_port},
    {"srcport", column::source_port},
    {"l4srcport", column::source_port},
    {"sourceport", column::source_port},
    {"sourcetransportport", column::source_port},
    {"dp", column::destination_port},
    {"dport", column::destination_port},
    {"dstport", column::destination_port},
    {"l4dstport", column::destination_port},
    {"destinationport", column::destination_port},
    {"destinationtransportport", column::destination_port},
    {"pr", column::protocol},
    {"pro", column::protocol},
    {"prot", column::protocol},
    {"proto", column::protocol},
    {"protocol", column::protocol},
    {"protocolidentifier", column::protocol},
    {"bytes", column::bytes},
    {"byt", column::bytes},
    {"ibyt", column::bytes},
    {"inbytes", column::bytes},
    {"octets", column::bytes},
    {"octetdeltacount", column::bytes},
    {"packets", column::packets},
    {"pkt", column::packets},
    {"ipkt", column::packets},
    {"inpackets", column::packets},
    {"inpkts", column::packets},
    {"packetdeltacount", column::packets},
    {"ts", column::time},
    {"time", column::time},
    {"start", column::time},
    {"stime", column::time},
    {"first", column::time},
    {"firstseen", column::time},
    {"flowstartseconds", column::time},
    {"flowstartmilliseconds", column::time_ms},
};

// What a question may be about.
struct described {
    column is;
    std::string_view what, examples;
    std::optional<std::size_t> part;  // of a key
    bool optional;                    // a row may leave it empty
};
constexpr described descriptions[] = {
    {column::source, "source address", "srcaddr, sa or sourceIPv4Address", flow_key::source, false},
    {column::destination, "destination address", "dstaddr, da or destinationIPv4Address",
     flow_key::destination, false},
    {column::source_port, "source port", "srcport, sp or sourceTransportPort", flow_key::source_port, true},
    {column::destination_port, "destination port", "dstport, dp or destinationTransportPort",
     flow_key::destination_port, true},
    {column::protocol, "protocol", "protocol, pr or protocolIdentifier", flow_key::protocol, false},
    {column::bytes, "bytes", "bytes, ibyt or octetDeltaCount", std::nullopt, false},
    {column::packets, "packets", "packets, ipkt or packetDeltaCount", std::nullopt, false},
};

std::uint32_t bit_of(column which) { return std::uint32_t{1} << static_cast<unsigned>(which); }

column column_of(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
    }
    const auto* const known = std::ranges::find(known_names, std::string_view(plain), &known_name::name);
    return known == std::end(known_names) ? column::other : known->is;
}

// The next field of a line, without the blanks and the quotes around it.
std::string_view next_field(std::string_view& line, char delimiter) {
    const auto end = std::min(line.find(delimiter), line.size());
    auto field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    constexpr std::string_view blanks = " \t\r";
    const auto first = field.find_first_not_of(blanks);
    if (first == field.npos) return {};
    field = field.substr(first, field.find_last_not_of(blanks) - first + 1);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
        field = field.substr(1, field.size() - 2);
    return field;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    return wrong == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool read_port(std::string_view text, flow_key& key, std::size_t at) {
    // nfdump writes the type and code of ICMP as a fraction: 3.1 stands for 3 · 256 + 1.
    const auto point = text.find('.');
    const auto port = number<std::uint16_t>(text.substr(0, point));
    const auto code =
        point == text.npos ? std::optional<std::uint8_t>(0) : number<std::uint8_t>(text.substr(point + 1));
    if (!port || !code || (point != text.npos && *port > 255)) return false;
    const unsigned value = point == text.npos ? *port : *port * 256U + *code;
    key.data()[at] = static_cast<std::byte>(value >> 8);
    key.data()[at + 1] = static_cast<std::byte>(value & 255);
    return true;
}

// By number or by name.
std::optional<std::uint8_t> protocol_of(std::string_view text) {
    if (const auto value = number<std::uint8_t>(text)) return value;
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (small == "icmp6" || small == "ipv6-icmp") small = "icmpv6";
    for (unsigned value = 0; value < 256; ++value)
        if (protocol_text(static_cast<std::uint8_t>(value)) == small) return static_cast<std::uint8_t>(value);
    return std::nullopt;
}

// "1700000000.25", or "2023-11-14 22:13:20.25" in UTC; in nanoseconds.
std::optional<std::uint64_t> time_of(std::string_view text) {
    constexpr double most = 1.8e10;  // seconds: what 64 bits of nanoseconds hold
    if (const auto seconds = number<double>(text)) {
        if (!(*seconds >= 0 && *seconds < most)) return std::nullopt;
        return static_cast<std::uint64_t>(*seconds * 1e9);
    }
    if (text.size() < 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T'))
        return std::nullopt;
    const auto year = number<int>(text.substr(0, 4));
    const auto month = number<unsigned>(text.substr(5, 2)), day = number<unsigned>(text.substr(8, 2)),
               hour = number<unsigned>(text.substr(11, 2)), minute = number<unsigned>(text.substr(14, 2));
    const auto second = number<double>(text.substr(17, text.find('Z') - 17));
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                           std::chrono::day(*day)};
    if (!date.ok() || *year < 1970 || *year > 2500 || *hour > 23 || *minute > 59 ||
        !(*second >= 0 && *second < 61))
        return std::nullopt;
    const auto days = std::chrono::sys_days(date).time_since_epoch().count();
    const auto whole = static_cast<std::uint64_t>(days) * 86'400 + *hour * 3600 + *minute * 60;
    return whole * 1'000'000'000 + static_cast<std::uint64_t>(*second * 1e9);
}
}  // namespace

bool flow_table::has(column which) const { return std::ranges::find(columns_, which) != columns_.end(); }

result<flow_table> flow_table::of_header(std::string_view line) {
    flow_table table;
    for (const char c : {',', ';', '\t', '|'})
        if (std::ranges::count(line, c) > std::ranges::count(line, table.delimiter_)) table.delimiter_ = c;
    while (!line.empty()) table.columns_.push_back(column_of(next_field(line, table.delimiter_)));
    if (!table.has(column::source) && !table.has(column::destination))
        return error::invalid(
            "the first line names no column for a source or destination, e.g. srcaddr, sa or "
            "sourceIPv4Address",
            0);
    if (!table.has(column::bytes) && !table.has(column::packets))
        return error::invalid(
            "the first line names no column for bytes or packets, e.g. bytes, ibyt or octetDeltaCount", 0);
    for (const column count : {column::bytes, column::packets})
        if (table.has(count)) table.needed_.push_back(count);
    return table;
}

result<void> flow_table::require(const flow_parts& by, bool weigh_packets) {
    for (const described& each : descriptions) {
        const bool weighed = each.is == (weigh_packets ? column::packets : column::bytes);
        const bool asked = each.part && by.asks_for(*each.part);
        if (!weighed && !asked) continue;
        if (!has(each.is))
            return error::invalid("the first line names no column for the " + std::string(each.what) +
                                      ", e.g. " + std::string(each.examples),
                                  0);
        if (asked && !each.optional) needed_.push_back(each.is);
    }
    return {};
}

result<flow_record> flow_table::row(std::string_view line) const {
    flow_record record;
    std::uint32_t given = 0;  // a bit for each kind of column
    for (std::size_t i = 0; !line.empty() && i < columns_.size(); ++i) {
        const std::string_view field = next_field(line, delimiter_);
        if (field.empty()) continue;  // of a version that this record is not about
        if (auto read_it = read(columns_[i], field, record); !read_it) return read_it.error();
        given |= bit_of(columns_[i]);
    }
    if (record.key.byte(flow_key::version) == 0) return error::damaged("a record without an address");
    for (const column needed : needed_)
        if (!(given & bit_of(needed)))
            return error::damaged("a record without a value for the " +
                                  std::string(std::ranges::find(descriptions, needed, &described::is)->what));
    return record;
}

result<void> flow_table::read(column which, std::string_view field, flow_record& into) const {
    const auto fails = [&](const char* what) {
        return error::damaged("'" + std::string(field.substr(0, 60)) + "' is no " + what);
    };
    const auto count = [&](std::uint64_t& into_count) -> result<void> {
        const auto value = number<std::uint64_t>(field);
        if (!value) return fails("count");
        into_count = *value;
        return {};
    };
    switch (which) {
        case column::source:
            if (!read_address(field, into.key, flow_key::source))
                return fails("address of the record's version");
            return {};
        case column::destination:
            if (!read_address(field, into.key, flow_key::destination))
                return fails("address of the record's version");
            return {};
        case column::source_port:
            if (!read_port(field, into.key, flow_key::source_port)) return fails("port");
            return {};
        case column::destination_port:
            if (!read_port(field, into.key, flow_key::destination_port)) return fails("port");
            return {};
        case column::protocol: {
            const auto value = protocol_of(field);
            if (!value) return fails("protocol");
            into.key.data()[flow_key::protocol] = static_cast<std::byte>(*value);
            return {};
        }
        case column::bytes:
            return count(into.bytes);
        case column::packets:
            return count(into.packets);
        case column::time: {
            const auto value = time_of(field);
            if (!value) return fails("time");
            into.time = *value;
            return {};
        }
        case column::time_ms: {
            const auto value = number<std::uint64_t>(field);
            if (!value || *value > UINT64_MAX / 1'000'000) return fails("time in milliseconds");
            into.time = *value * 1'000'000;
            return {};
        }
        case column::other:
            return {};
    }
    return {};
}

}  // namespace posy::packets
