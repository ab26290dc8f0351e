// posy flows: which flows send the most, from captures, flow records or an interface, in memory that does not
// grow with the flows (posy/packet/heavy_flows.hpp).
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "filter_options.hpp"
#include "flow_report.hpp"
#include "gnuplot.hpp"
#include "numbers.hpp"
#include "packet_source.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using packets::heavy_flow_options, packets::heavy_flows;

struct options {
    std::vector<std::string> files;
    hash_options hash{hash_family::siphash};
    std::string interface, by = "flow", weight = "bytes", threshold, link, interval, duration,
                           memory = "1MiB", tunnels = "innermost", plot;
    unsigned stages = 4;
    std::optional<unsigned> top;
    bool records = false, exact = false, json = false;

    bool count_packets() const { return weight == "packets"; }
    bool live() const { return !interface.empty(); }
    std::uint64_t top_or_default() const { return top ? *top : threshold.empty() ? 10 : 0; }
    std::uint64_t interval_ns() const {
        if (interval.empty()) return live() ? 10'000'000'000 : 0;
        return static_cast<std::uint64_t>(parse_duration("--interval", interval).count()) * 1000;
    }
};

// A quarter of the memory for entries, in whole powers of two, the rest for counters.
heavy_flow_options shape_of(const options& o) {
    const std::uint64_t memory = parse_amount(o.memory);
    constexpr std::uint64_t slot = 64, counter = 4, most = std::uint64_t{1} << 36;
    if (memory < 4096 || memory > most) throw failure("flows: --memory lies between 4KiB and 64GiB");
    const std::uint64_t slots = std::bit_floor(memory / 4 / slot);
    const heavy_flow_options shape{
        .width = (memory - slots * slot) / (counter * o.stages), .stages = o.stages, .entries = slots / 2};
    const std::uint64_t top = o.top_or_default();
    if (2 * top > shape.entries)
        throw failure(
            fmt::format("flows: --memory {} has room for the top {}; give more memory, or a smaller --top",
                        o.memory, shape.entries / 2));
    return shape;
}

// "1MB" per interval, or "0.1%" of the traffic or of what the link can carry.
void set_threshold(const options& o, heavy_flow_options& shape) {
    if (o.threshold.empty()) return;
    if (o.threshold.back() != '%') {
        if (!o.link.empty())
            throw failure("flows: --link gives a meaning to a --threshold in %, and this is none");
        try {
            shape.threshold = parse_amount(o.threshold);
        } catch (const wrong_use& wrong) {
            throw wrong_use(std::string("--threshold: ") + wrong.what());
        }
        return;
    }
    const auto percent = parse_number(std::string_view(o.threshold).substr(0, o.threshold.size() - 1));
    if (!percent || !(*percent > 0 && *percent < 100))
        throw failure("flows: --threshold " + o.threshold + " is not between 0% and 100%");
    if (o.link.empty()) {
        shape.share = *percent / 100;
        return;
    }
    if (o.count_packets() || o.interval_ns() == 0)
        throw failure("flows: --link needs --weight bytes and an --interval: a link carries bytes in a time");
    const double bytes =
        static_cast<double>(parse_amount(o.link)) / 8 * static_cast<double>(o.interval_ns()) / 1e9;
    shape.threshold = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes * *percent / 100));
}

bool is_table(const options& o, const std::string& path) { return o.records || path.ends_with(".csv"); }

class session {
  public:
    explicit session(const options& o)
        : o_(o),
          parts_(take(packets::flow_parts::parse(o.by), "--by " + o.by)),
          report_(parts_, o.count_packets(), o.top_or_default()),
          watch_(make_meter(), {parts_, o.count_packets(), o.interval_ns(), o.exact},
                 [this](const flow_interval& i) { closed(i); }) {
        if (!o.plot.empty()) {
            check_gnuplot();
            check_output(o.plot);
        }
    }

    void run() {
        const packet_options how{
            o_.tunnels == "outermost" ? packets::tunnels::outermost : packets::tunnels::innermost,
            parts_.only_addresses()};
        if (o_.live()) {
            watch(how);
        } else {
            for (const std::string& path : o_.files.empty() ? std::vector<std::string>{"-"} : o_.files)
                read(path, how);
        }
        watch_.end();
        finish();
    }

  private:
    heavy_flows make_meter() const {
        heavy_flow_options shape = shape_of(o_);
        set_threshold(o_, shape);
        return take(heavy_flows::make(shape, hasher(o_.hash.family(), o_.hash.seed())), "flows");
    }
    void read(const std::string& path, const packet_options& how) {
        if (is_table(o_, path)) return read_records(path, tally_, watch_, wrong_record_);
        const auto wrong = read_capture(path, how, tally_, watch_);
        if (wrong && !damage_) damage_ = wrong;
    }
    void watch(const packet_options& how) {
        live_options live{.interface = o_.interface};
        if (!o_.duration.empty())
            live.seconds = static_cast<double>(parse_duration("--duration", o_.duration).count()) / 1e6;
        terminal_ = !o_.json && isatty(STDOUT_FILENO) != 0;
        if (terminal_) live.each_half_second = [this] { draw_table(); };
        watch_interface(live, how, tally_, watch_);
    }
    // The present interval, in the place of what was there.
    void draw_table() const {
        const flow_interval now = watch_.so_far();
        if (now.packets > 0)
            print("\033[H\033[2J" + o_.interface + ", " + report_.text(now) + lost_text(tally_));
    }
    void closed(const flow_interval& i) {
        found_ = found_ || !i.found.flows.empty();
        if (o_.json && o_.live()) print(report_.json(i).dump() + "\n");
        if (!o_.json && !terminal_) print((i.number > 1 ? "\n" : "") + report_.text(i));
        if (!o_.plot.empty() || (o_.json && !o_.live())) kept_.push_back(i);
    }
    void finish() {
        if (o_.json && !o_.live()) {
            nlohmann::ordered_json j = to_json(tally_);
            j["memory_bytes"] = watch_.meter().memory_bytes();
            j["intervals"] = nlohmann::ordered_json::array();
            for (const auto& each : kept_) j["intervals"].push_back(report_.json(each));
            print(j.dump(2) + "\n");
        } else if (!o_.json) {
            print((terminal_ ? "\n" : "") + lost_text(tally_));
        }
        if (!o_.plot.empty() && !kept_.empty()) report_.plot(kept_, o_.plot);
        if (!wrong_record_.empty())
            fmt::print(stderr, "posy: {}; such lines are not counted\n", wrong_record_);
        if (damage_)
            throw failure(*damage_ + (tally_.packets > 0 ? "; what comes before it is counted" : ""));
        if (!found_) throw answer_is_no{};
    }

    const options& o_;
    packets::flow_parts parts_;
    flow_report report_;
    packet_tally tally_;
    std::vector<flow_interval> kept_;  // for what is printed at the end
    std::string wrong_record_;
    std::optional<std::string> damage_;
    bool terminal_ = false, found_ = false;
    flow_watch watch_;
};

void add_input_options(command_line& command, options& o) {
    command.add_option(
        "FILES", o.files,
        "Captures (pcap or pcapng) or, named *.csv, flow records; - or none for standard input");
    command
        .add_option("-i,--interface NAME", o.interface,
                    "Interface to watch instead of files, until SIGINT, SIGTERM or --duration (needs the "
                    "right to capture packets)")
        .excludes("FILES");
    command
        .add_option("--duration TIME", o.duration,
                    "How long to watch, e.g. 30s or 5m (default: until a signal)")
        .needs("--interface");
    command
        .add_flag(
            "--records", o.records,
            "The input is a table of flow records (NetFlow, IPFIX): CSV whose first line names the columns")
        .excludes("--interface");
    command
        .add_option("--tunnels", o.tunnels,
                    "Which packet counts where one carries another (GRE, IP in IP, 6in4, VXLAN, GENEVE)")
        .one_of({"innermost", "outermost"})
        .shows_default();
}

void add_question_options(command_line& command, options& o) {
    command
        .add_option("--by PARTS", o.by,
                    "What a flow is: a list of src, dst, sport, dport and proto, or flow for all five; "
                    "src/24 is a prefix, of "
                    "IPv6 twice as long, and src/24/56 gives both")
        .shows_default();
    command.add_option("--weight", o.weight, "What is counted: bytes of IP packets, or packets")
        .one_of({"bytes", "packets"})
        .shows_default();
    command.add_option(
        "--threshold SIZE", o.threshold,
        "Print all flows of at least this many bytes or packets in an interval, e.g. 1M, or at least this "
        "share of the traffic, e.g. 0.1% (default: none, the --top flows)");
    add_amount(command, "--link BITS", o.link,
               "Capacity of the link in bits per second, e.g. 1G: a --threshold in % is a share of that "
               "(default: a share of the traffic)")
        .needs("--threshold");
    add_amount(command, "--top N", o.top,
               "Number of flows to print; 0 for all that are found (default: 10, or 0 with --threshold)");
    command.add_option("--interval TIME", o.interval,
                       "Length of a measurement interval by the time of the packets, e.g. 10s or 5m "
                       "(default: all of a file in "
                       "one; 10s with --interface)");
}

void add_meter_options(command_line& command, options& o) {
    add_amount(command, "--memory SIZE", o.memory, "Memory for counters and entries in bytes")
        .shows_default();
    command.add_option("--stages N", o.stages, "Number of stages of the filter")
        .between(1, 16)
        .shows_default();
    command.add_flag(
        "--exact", o.exact,
        "Count every flow exactly as well, in memory that grows with the flows, and print the errors");
    command.add_flag("--json", o.json, "Print JSON: one document, or with --interface a line per interval");
    command.add_option("--plot FILE", o.plot,
                       "SVG of the flows by rank, or over time if there are several intervals; needs gnuplot "
                       "(default: no picture)");
    o.hash.add_to(command);
}

}  // namespace

void add_flows(command_line& app) {
    const auto o = std::make_shared<options>();
    command_line command = add_command(
        app, "flows", "Print the flows that send the most: packets of a capture or an interface",
        "  posy flows office.pcap                                       the ten largest flows\n"
        "  posy flows office.pcapng --by src/24 --threshold 1%          all networks with 1 % of the bytes\n"
        "  posy flows -i eth0 --by dst,dport --weight packets           a table that is renewed on a "
        "terminal\n"
        "  tcpdump -w - | posy flows --interval 1m --json               standard input\n"
        "  posy flows netflow.csv --by src                              flow records\n"
        "The size of a flow lies between the columns 'certain' and 'bytes' (or 'packets'). A flow that was\n"
        "large in one interval is counted exactly in the next. No flow above the last line of a table is\n"
        "missing in it. Packets that are malformed, or captured too short for what --by asks, are counted\n"
        "apart. Of a damaged file, everything before the damage is counted.\n"
        "Exit status: 0 if a flow was printed, 1 if none, 2 on an error or a damaged file.");
    add_input_options(command, *o);
    add_question_options(command, *o);
    add_meter_options(command, *o);
    command.runs([o] { session(*o).run(); });
}

}  // namespace posy::tool
