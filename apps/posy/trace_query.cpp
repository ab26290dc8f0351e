// posy trace query: did these packets come by here, and when?
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "trace.hpp"

namespace posy::tool {
namespace {

using json = nlohmann::ordered_json;

struct query_options {
    std::string digests, packet;
    trace_options how;
};

json to_json(const packets::time_window& window) {
    return {{"from", static_cast<double>(window.from) / 1e6}, {"to", static_cast<double>(window.to) / 1e6}};
}

json to_json(const traced_packet& packet, const digest_answer& answer) {
    json seen = json::array();
    for (const auto& window : answer.found.seen) seen.push_back(to_json(window));
    return {{"packet", packet.what},
            {"seen", seen},
            {"known", answer.known()},
            {"pages", answer.found.pages},
            {"unreadable_pages", answer.unreadable},
            {"false_positive_rate", answer.found.false_positive_rate()}};
}

std::string to_text(const traced_packet& packet, const digest_answer& answer) {
    std::string text = packet.what + "\n";
    for (const auto& window : answer.found.seen) text += "  seen " + window_text(window) + "\n";
    if (!answer.known())
        text += answer.unreadable > 0 ? "  unknown: pages of that time cannot be read\n"
                                      : "  unknown: there is no page of that time\n";
    else if (!answer.seen())
        text += "  not seen\n";
    if (answer.known())
        text += fmt::format("  odds of a false yes {}, pages asked {}\n",
                            rate(answer.found.false_positive_rate()),
                            count(static_cast<double>(answer.found.pages)));
    return text;
}

void query(const query_options& o) {
    json all = json::array();
    bool seen = false, read = false;
    const auto packets = packets_in(o.packet);
    const auto answers = ask_digests(o.digests, packets, o.how);
    for (std::size_t i = 0; i < packets.size(); ++i) {
        const traced_packet& packet = packets[i];
        const digest_answer& answer = answers[i];
        seen = seen || answer.seen();
        read = read || answer.unreadable == 0 || answer.found.pages > 0;
        if (o.how.as_json)
            all.push_back(to_json(packet, answer));
        else
            print(to_text(packet, answer));
    }
    if (o.how.as_json) print(json{{"packets", all}}.dump(2) + "\n");
    if (!read) throw failure(o.digests + ": no page of that time can be read");
    if (!seen) throw answer_is_no{};
}

}  // namespace

void add_trace_query(command_line& trace) {
    const auto o = std::make_shared<query_options>();
    command_line command =
        add_command(trace, "query", "Say whether, and when, packets were recorded in digests",
                    "  posy trace query https://r3.example/digests attack.pcap\n"
                    "  posy trace query digests 4500001c00010000401100000a0000010a0000020035003500080000\n"
                    "Exit status: 0 if a packet was seen, 1 if none was, 2 on an error.");
    command.add_option("DIGESTS", o->digests, "Folder that 'posy trace record' wrote, or the URL of one")
        .required();
    command
        .add_option(
            "PACKET", o->packet,
            "Capture file with the packets, or the bytes of one in hexadecimal digits: an IP packet, or an "
            "Ethernet frame")
        .required();
    o->how.add_to(command);
    command.runs([o] { query(*o); });
}

}  // namespace posy::tool
