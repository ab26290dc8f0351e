// posy trace route: asks the routers of a topology for a packet, from the victim's router backwards.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "posy/base/file.hpp"
#include "posy/packet/traceback.hpp"
#include "trace.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

struct route_options {
    std::string topology, packet, victim;
    std::uint64_t number = 1;
    trace_options how;
};

constexpr std::uint64_t most_topology_bytes = 64 << 20;

packets::topology topology_in(const std::string& path) {
    const auto file = take(base::open_for_reading(path), path);
    std::vector<std::byte> text(most_topology_bytes + 1);
    text.resize(take(base::read_fully(file.get(), text), path));
    if (text.size() > most_topology_bytes) throw failure(path + ": larger than 64 MiB");
    return take(packets::topology::parse({reinterpret_cast<const char*>(text.data()), text.size()}), path);
}

// What was found out, router by router.
struct found_way {
    std::vector<packets::trace_step> steps;
    std::vector<std::optional<digest_answer>> answers;  // by router; nothing: silent, or not asked
    std::uint64_t asked = 0, silent = 0;
    double false_branches = 0;
};

// A router that cannot be asked is silent, and the search goes on behind it.
found_way search(const packets::topology& network, std::size_t start, const traced_packet& packet,
                 const route_options& o) {
    const fs::path folder = fs::path(o.topology).parent_path();
    packets::traceback trace(network, start);
    found_way way{.answers = std::vector<std::optional<digest_answer>>(network.routers().size())};
    while (const auto router = trace.next()) {
        const packets::router& one = network.routers()[*router];
        auto& answer = way.answers[*router];
        try {
            // Folders are where the topology is, unless their names say otherwise.
            if (one.digests != "-")
                answer = ask_digests(is_url(one.digests) ? one.digests : (folder / one.digests).string(),
                                     {&packet, 1}, o.how)[0];
        } catch (const failure& why) {
            fmt::print(stderr, "posy: router {}: {}\n", one.name, why.what());
        }
        if (answer && !answer->known()) answer.reset();
        way.silent += !answer;
        trace.answer(answer ? std::optional(packets::testimony{!answer->found.seen.empty(),
                                                               answer->found.false_positive_rate()})
                            : std::nullopt);
    }
    way.steps = trace.steps();
    way.asked = trace.asked();
    way.false_branches = trace.false_branches();
    return way;
}

// The names from the router of a step to the victim.
std::vector<std::string> names_to_victim(const packets::topology& network, const found_way& way,
                                         const packets::trace_step& from) {
    std::vector<std::string> names;
    for (const packets::trace_step* at = &from; at;) {
        names.push_back(network.routers()[at->router].name);
        const auto next = std::ranges::find_if(
            way.steps, [&](const packets::trace_step& step) { return at->towards == step.router; });
        at = at->towards && next != way.steps.end() ? &*next : nullptr;
    }
    return names;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " → ") + name;
    return text;
}

std::string to_text(const packets::topology& network, const found_way& way) {
    std::string text;
    std::vector<std::vector<std::string>> rows{
        {"router", "hops from the victim's", "odds of a false yes", "seen"}};
    for (const auto& step : way.steps) {
        const auto& answer = way.answers[step.router];
        rows.push_back({network.routers()[step.router].name, count(static_cast<double>(step.distance)),
                        answer ? fmt::format("{:.3g}", answer->found.false_positive_rate()) : "–",
                        answer ? window_text(answer->found.seen.front()) : "no answer"});
    }
    text += table(rows) + "\n";
    for (const auto& step : way.steps)
        if (step.last) text += "way             " + joined(names_to_victim(network, way, step)) + "\n";
    text += fmt::format("routers asked   {} of {}{}\n", count(static_cast<double>(way.asked)),
                        count(static_cast<double>(network.routers().size())),
                        way.silent > 0 ? fmt::format(", and {} without an answer", way.silent) : "");
    text += fmt::format("false branches  {:.3g} expected\n", way.false_branches);
    return text;
}

json to_json(const packets::topology& network, const traced_packet& packet, const found_way& way) {
    json steps = json::array(), ways = json::array();
    for (const auto& step : way.steps) {
        const auto& answer = way.answers[step.router];
        json one{{"router", network.routers()[step.router].name},
                 {"hops", step.distance},
                 {"silent", step.silent}};
        if (answer) one["false_positive_rate"] = answer->found.false_positive_rate();
        steps.push_back(one);
        if (step.last) ways.push_back(names_to_victim(network, way, step));
    }
    return {{"packet", packet.what}, {"routers", steps},     {"ways", ways},
            {"asked", way.asked},    {"silent", way.silent}, {"false_branches_expected", way.false_branches}};
}

void route(const route_options& o) {
    const auto network = topology_in(o.topology);
    const auto start = network.find(o.victim);
    if (!start)
        throw failure(o.topology + ": has no router '" + o.victim + "'; --victim names one of its routers");
    const auto all = packets_in(o.packet);
    if (o.number == 0 || o.number > all.size())
        throw failure(fmt::format("--packet {}: there are {} packets that could have been recorded", o.number,
                                  all.size()));
    const traced_packet& packet = all[o.number - 1];
    const found_way way = search(network, *start, packet, o);
    if (o.how.as_json)
        print(to_json(network, packet, way).dump(2) + "\n");
    else
        print(way.steps.empty() ? packet.what + "\n  no router has seen it\n"
                                : packet.what + "\n\n" + to_text(network, way));
    if (way.steps.empty()) throw answer_is_no{};
}

}  // namespace

void add_trace_route(command_line& trace) {
    const auto o = std::make_shared<route_options>();
    command_line command = add_command(
        trace, "route", "Find the way of a packet, from the digests of the routers",
        "  posy trace route network.txt attack.pcap --victim r3\n"
        "The topology has a line for each router: its name, the folder or URL of its digests ('-' if it\n"
        "has none), and its neighbours. '#' begins a comment; folders are relative to the file.\n"
        "  r1  digests/r1                  r2\n"
        "  r2  https://r2.example/digests  r1 r3\n"
        "  r3  digests/r3                  r2\n"
        "Exit status: 0 if the victim's router has seen the packet, 1 if not, 2 on an error.");
    command.add_option("TOPOLOGY", o->topology, "File with the routers and their links")
        .required()
        .existing_file();
    command
        .add_option(
            "PACKET", o->packet,
            "Capture file with the packet, or its bytes in hexadecimal digits: an IP packet, or an Ethernet "
            "frame")
        .required();
    command
        .add_option("--victim ROUTER", o->victim, "Router that delivered the packet, where the search begins")
        .required();
    command.add_option("--packet N", o->number, "Which packet of the capture file, counted from 1")
        .shows_default();
    o->how.add_to(command);
    command.runs([o] { route(*o); });
}

}  // namespace posy::tool
