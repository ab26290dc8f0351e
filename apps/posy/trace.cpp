// posy trace: where did this packet come from? Digests of packets, recorded by routers, asked for later.
#include "trace.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "numbers.hpp"
#include "packet_stream.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;
using packets::link_type;

std::string description_of(byte_view frame, std::uint64_t original_length, link_type link) {
    const auto h = packets::headers_of(frame, original_length, link, packets::tunnels::outermost);
    using key = packets::flow_key;
    const auto end = [&](std::size_t address, std::size_t port) {
        const std::string text = packets::address_text(h.key, address);
        if (!h.has_ports) return text;
        return (h.version == 6 ? "[" + text + "]" : text) + ":" + std::to_string(h.key.pair(port));
    };
    return fmt::format("{} → {} {}", end(key::source, key::source_port),
                       end(key::destination, key::destination_port), packets::protocol_text(h.protocol));
}

std::vector<traced_packet> from_file(const std::string& path) {
    std::vector<traced_packet> all;
    packets::captured one;
    std::uint64_t others = 0;
    std::optional<std::uint32_t> unknown_link;
    const auto stream = open_capture(path);
    while (stream->next(one) == packet_stream::step::packet) {
        packets::imprint made;
        if (!one.link) unknown_link = one.link_number;
        if (one.link &&
            packets::imprint::of(one.frame, one.original_length, *one.link, made) == packets::outcome::found)
            all.push_back({made, one.time / 1000, description_of(one.frame, one.original_length, *one.link)});
        else
            ++others;
    }
    if (all.empty() && unknown_link)
        throw failure(display_name(path) + ": its packets are " + unknown_link_text(*unknown_link));
    if (all.empty())
        throw failure(
            fmt::format("{}: none of its {} packets is an IP packet with 8 bytes of payload captured",
                        display_name(path), others));
    return all;
}

// The bytes of hexadecimal digits; blanks, colons and a leading 0x are ignored.
std::optional<std::vector<std::byte>> from_hex(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::string digits;
    for (const char c : text)
        if (c != ' ' && c != ':') digits += c;
    const bool all =
        !digits.empty() && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!all || digits.size() % 2 != 0) return {};
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
    return bytes;
}

// An IP packet if that is exactly what the bytes are; otherwise an Ethernet frame.
traced_packet from_bytes_of(const std::vector<std::byte>& bytes) {
    const auto raw = packets::headers_of(bytes, bytes.size(), link_type::raw_ip, packets::tunnels::outermost);
    const link_type link =
        raw.version != 0 && raw.ip_bytes == bytes.size() ? link_type::raw_ip : link_type::ethernet;
    traced_packet packet;
    const auto outcome = packets::imprint::of(bytes, bytes.size(), link, packet.imprint);
    if (outcome != packets::outcome::found)
        throw failure(
            fmt::format("the packet's bytes are neither an IP packet nor an Ethernet frame with one: {}",
                        packets::name_of(outcome)));
    packet.what = description_of(bytes, bytes.size(), link);
    return packet;
}

// The pages of a folder, or of one that a web server has.
class page_source {
  public:
    page_source(const std::string& where, const trace_options& how) : where_(where), how_(how) {
        if (is_url(where)) {
            if (!where_.ends_with('/')) where_ += '/';
            const std::string list = where_ + packets::digest_folder::list_name;
            pages_ = take(packets::parse_page_list(fetch(list, how.fetch, how.reading.limits())), list);
        } else {
            folder_ = take(packets::digest_folder::open(where), "trace");
            pages_ = take(folder_->pages(), "trace");
        }
    }

    const std::vector<packets::page_name>& pages() const { return pages_; }

    result<packets::digest_page> load(const packets::page_name& name) const {
        const read_limits limits = how_.reading.limits();
        // What is in a folder was written here: a large array in few bytes is one that is nearly empty.
        if (folder_) return folder_->load(name, limits.holding(limits.max_bytes));
        const std::string url = where_ + name.text(), bytes = fetch(url, how_.fetch, limits);
        auto page = packets::page_of(from_bytes(as_byte_view(bytes), limits), name);
        if (!page) return page.error().behind(url);
        return page;
    }

  private:
    std::string where_;
    const trace_options& how_;
    std::optional<packets::digest_folder> folder_;
    std::vector<packets::page_name> pages_;
};

}  // namespace

std::vector<traced_packet> packets_in(const std::string& argument) {
    std::error_code failed;
    if (argument == "-" || fs::exists(argument, failed)) return from_file(argument);
    const auto bytes = from_hex(argument);
    if (!bytes)
        throw failure(argument +
                      ": neither a capture file nor a packet in hexadecimal digits, two for each byte");
    return {from_bytes_of(*bytes)};
}

void trace_options::add_to(command_line& command) {
    command.add_option(
        "--at TIME", at,
        "When the packet was seen, in seconds since 1970 (default: its time in the capture file; "
        "for a packet without one, all time)");
    command.add_option("--within TIME", within, "Ask for this long before and after, e.g. 5s or 1h")
        .shows_default();
    command.add_flag("--json", as_json, "Print one JSON object");
    reading.add_to(command);
    fetch.add_to(command);
}

std::optional<std::uint64_t> trace_options::time(const traced_packet& packet) const {
    if (at.empty()) return packet.time;
    const auto given = parse_decimal(at, 6);
    if (!given) throw failure("--at " + at + ": give seconds since 1970, e.g. 1763299222.5");
    return given;
}

packets::time_window trace_options::window(const traced_packet& packet) const {
    const auto when = time(packet);
    if (!when) return {};
    const auto about = static_cast<std::uint64_t>(parse_duration("--within", within).count());
    return {*when - std::min(*when, about), *when + std::min(~*when, about)};
}

std::vector<digest_answer> ask_digests(const std::string& where, std::span<const traced_packet> packets,
                                       const trace_options& how) {
    const page_source source(where, how);
    std::vector<packets::time_window> windows;
    for (const traced_packet& packet : packets) windows.push_back(how.window(packet));
    std::vector<digest_answer> answers(packets.size());
    for (const packets::page_name& name : source.pages()) {
        const auto meets = [&](const packets::time_window& window) { return name.when.meets(window); };
        if (std::ranges::none_of(windows, meets)) continue;
        const auto page = source.load(name);
        if (!page) fmt::print(stderr, "posy: {}\n", text_of(page.error()));
        const double rate = page ? page->filter.false_positive_rate() : 0;
        for (std::size_t i = 0; i < packets.size(); ++i) {
            if (!meets(windows[i])) continue;
            const auto time = how.time(packets[i]);
            answers[i].from_before |= !time || name.when.from <= *time;
            answers[i].from_after |= !time || name.when.to >= *time;
            if (page)
                answers[i].found.ask(*page, packets[i].imprint, rate);
            else
                ++answers[i].unreadable;
        }
    }
    return answers;
}

std::string time_text(std::uint64_t microseconds) {
    const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
    return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06}", fmt::gmtime(seconds), microseconds % 1'000'000);
}

std::string window_text(const packets::time_window& window) {
    const std::string from = time_text(window.from), to = time_text(window.to);
    // The day once, if both are of the same.
    return from + " … " + (from.substr(0, 11) == to.substr(0, 11) ? to.substr(11) : to);
}

void add_trace(command_line& app) {
    command_line trace = add_command(app, "trace", "Record packets in digests, and find where one came from",
                                     "  posy trace record -i eth0 -o digests\n"
                                     "  posy trace query digests attack.pcap\n"
                                     "  posy trace route network.txt attack.pcap --victim r3");
    add_trace_record(trace);
    add_trace_query(trace);
    add_trace_route(trace);
    add_trace_plan(trace);
}

}  // namespace posy::tool
