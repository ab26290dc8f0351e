// posy trace plan: what digests cost that trace a packet with few false branches.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "posy/theory/traceback.hpp"
#include "trace.hpp"

namespace posy::tool {
namespace {

struct plan_options {
    std::uint64_t packets_per_second = 0;
    std::string keep = "1h", interval = "10s", within = "60s";
    double hops = 15, neighbours = 4, branches = 0.1, packet_bytes = 700;
    bool as_json = false;
};

struct trace_plan {
    double pages_asked;  // per router
    double router_rate;  // of a router, over these
    plan page;
    double bytes_kept;
    double branches, bound;  // expected with the page's own rate, and at most
};

trace_plan plan_of(const plan_options& o) {
    const auto seconds = [](const std::string& option, const std::string& text) {
        return std::chrono::duration<double>(parse_duration(option, text)).count();
    };
    const double interval = seconds("--interval", o.interval);
    if (interval <= 0) throw failure("--interval: must be longer than nothing");
    if (o.packets_per_second == 0) throw failure("--packets-per-second: must be more than 0");
    trace_plan p{};
    p.pages_asked = std::ceil(2 * seconds("--within", o.within) / interval) + 1;
    const double wanted = theory::traceback_rate(o.hops, o.neighbours, o.branches);
    const auto packets = static_cast<std::uint64_t>(
        std::max(1.0, std::ceil(static_cast<double>(o.packets_per_second) * interval)));
    p.page = take(choose({.items = packets,
                          .rate = -std::expm1(std::log1p(-wanted) / p.pages_asked),
                          .layout = layout_id::blocked,
                          .hash = hash_family::siphash}),
                  "trace plan");
    p.router_rate = -std::expm1(p.pages_asked * std::log1p(-p.page.false_positive_rate));
    p.bytes_kept =
        std::ceil(seconds("--keep", o.keep) / interval) * static_cast<double>(p.page.memory_bytes());
    p.branches = theory::false_branches(o.hops, o.neighbours, p.router_rate);
    p.bound = theory::false_branches_bound(o.hops, o.neighbours, p.router_rate);
    return p;
}

void print_plan(const plan_options& o) {
    const trace_plan p = plan_of(o);
    const double per_packet = p.page.bits_per_item() / 8;
    if (o.as_json) {
        return print(nlohmann::ordered_json{{"packets_per_page", p.page.items},
                                            {"page_rate", p.page.false_positive_rate},
                                            {"page_bytes", p.page.memory_bytes()},
                                            {"bytes_per_packet", per_packet},
                                            {"bytes_kept", p.bytes_kept},
                                            {"link_share", per_packet / o.packet_bytes},
                                            {"pages_asked", p.pages_asked},
                                            {"router_rate", p.router_rate},
                                            {"false_branches", p.branches},
                                            {"false_branches_bound", p.bound}}
                         .dump(2) +
                     "\n");
    }
    const auto line = [](const char* name, const std::string& value) {
        return fmt::format("{:22}{}\n", name, value);
    };
    print(line("packets per page", count(static_cast<double>(p.page.items))) +
          line("rate of a page", rate(p.page.false_positive_rate)) +
          line("bytes of a page", bytes(p.page.memory_bytes())) +
          line("bytes per packet", fmt::format("{:.3f}", per_packet)) +
          line("share of the traffic", fmt::format("{:.3g} % of packets of {:g} bytes",
                                                   100 * per_packet / o.packet_bytes, o.packet_bytes)) +
          line("kept per router", bytes(static_cast<std::uint64_t>(p.bytes_kept)) + " for " + o.keep) +
          line("pages asked", count(p.pages_asked) + " per router and packet") +
          line("rate of a router", rate(p.router_rate)) +
          line("false branches", fmt::format("{:.3g} expected, at most {:.3g}", p.branches, p.bound)) +
          fmt::format("\nposy trace record --packets {} --fpr {} --interval {} --keep {:.0f} …\n",
                      p.page.items, p.page.false_positive_rate, o.interval, p.bytes_kept));
}

}  // namespace

void add_trace_plan(command_line& trace) {
    const auto o = std::make_shared<plan_options>();
    command_line command =
        add_command(trace, "plan", "Plan the digests of a router: their rate, and the bytes to keep",
                    "  posy trace plan --packets-per-second 100k --keep 1h --branches 0.01");
    add_amount(command, "--packets-per-second N", o->packets_per_second,
               "Packets that a router forwards, e.g. 100k")
        .required();
    command.add_option("--keep TIME", o->keep, "How long digests are kept, e.g. 10m or 1d").shows_default();
    command.add_option("--branches N", o->branches, "False branches to expect on a packet's way")
        .positive()
        .shows_default();
    command.add_option("--hops N", o->hops, "Routers on the way").between(1, 1000).shows_default();
    command.add_option("--neighbours N", o->neighbours, "Neighbours of a router")
        .between(2, 100'000)
        .shows_default();
    command.add_option("--interval TIME", o->interval, "Time of one page").shows_default();
    command.add_option("--within TIME", o->within, "Pages of this long before and after a packet are asked")
        .shows_default();
    command.add_option("--packet-bytes N", o->packet_bytes, "Mean size of a packet")
        .positive()
        .shows_default();
    command.add_flag("--json", o->as_json, "Print one JSON object");
    command.runs([o] { print_plan(*o); });
}

}  // namespace posy::tool
