// posy replay: a laboratory of real proxies, an origin and a trace; or a simulation of many proxies.
#include <fmt/core.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gnuplot.hpp"
#include "lab/laboratory.hpp"
#include "lab/origin.hpp"
#include "lab/report.hpp"
#include "lab/simulation.hpp"
#include "numbers.hpp"
#include "posy/base/file.hpp"
#include "progress.hpp"
#include "tool.hpp"

namespace posy::tool {

namespace {

namespace fs = std::filesystem;

struct replay_arguments {
    std::string trace, report;
    std::vector<std::string> sharing = names_of<node::sharing>();
    std::vector<double> change{0.02, 0.07, 0.2}, change_bits;
    std::vector<std::uint16_t> misled;
    lab::setting base;
    std::size_t requests = 0;  // 0: all
    std::uint16_t as_origin = 0;
    bool simulate = false;
    std::vector<std::string> structures{std::string(name_of(lab::structure::mesh))};
    lab::arrangement arranged;
    lab::made_up made_up{.requests = 1'000'000, .objects = 1'000'000};
};
constexpr std::uint32_t most_real_proxies = 64;

void write_file(const fs::path& path, const std::string& text) {
    auto file = take(base::atomic_file::create(path), path.string());
    take(base::write_fully(file.get(), as_byte_view(text)), path.string());
    take(file.commit(), path.string());
}

void write_report(const lab::experiment& e, const fs::path& folder) {
    fs::create_directories(folder);
    write_file(folder / "replay.md", lab::markdown(e));
    write_file(folder / "replay.csv", lab::csv(e));
    const auto svg = folder / "replay.svg";
    draw(lab::picture(e), svg.string());
    std::ifstream file(svg);
    const std::string drawn(std::istreambuf_iterator<char>(file), {});
    write_file(folder / "replay.html",
               lab::html(e, drawn.substr(std::min(drawn.find("<svg"), drawn.size()))));
}

// All settings to compare, in their order.
std::vector<lab::setting> settings_of(const replay_arguments& a) {
    std::vector<lab::setting> settings;
    for (const auto& sharing : a.sharing) {
        const auto setting = [&]() -> lab::setting& {
            settings.push_back(a.base);
            settings.back().sharing = *named<node::sharing>(sharing);
            return settings.back();
        };
        const bool updates = setting().updates();
        if (!updates) continue;  // there is nothing to update
        settings.pop_back();
        for (const double change : a.change) setting().change = change;
        for (const double change : a.change_bits) setting().change_bits = change;
        for (const std::uint16_t misled : a.misled) setting().misled = misled;
    }
    return settings;
}

// Runs with a line of progress.
template <class Run>
auto with_progress(const lab::setting& how, std::string_view what, std::uint64_t requests, const Run& run) {
    progress shown(fmt::format("{}{}, {}", what, name_of(how.sharing), lab::update_of(how)), requests,
                   progress::counting::work);
    std::size_t before = 0;
    return run([&](std::size_t done) {
        shown.add(done - before);
        before = done;
    });
}

lab::trace trace_of(const replay_arguments& a, std::size_t most) {
    return lab::read_trace(a.trace, a.base.proxies, a.requests ? a.requests : most);
}

void simulate(const replay_arguments& a) {
    std::optional<lab::trace> trace;
    if (!a.trace.empty()) trace = trace_of(a, std::size_t{1} << 40);
    auto made_up = a.made_up;
    if (a.requests) made_up.requests = a.requests;
    constexpr std::uint64_t most_objects = 2'000'000'000;  // twice that many have numbers
    if (made_up.objects == 0 || made_up.objects > most_objects)
        throw failure(fmt::format("--objects {}: give 1 to {}", made_up.objects, most_objects));
    std::vector<lab::simulated_outcome> outcomes;
    for (const auto& structure : a.structures) {
        auto arranged = a.arranged;
        arranged.structure = *named<lab::structure>(structure);
        for (const lab::setting& how : settings_of(a)) {
            std::unique_ptr<lab::workload> load;
            if (trace)
                load = std::make_unique<lab::traced_workload>(*trace);
            else
                load = std::make_unique<lab::made_up_workload>(made_up, how.proxies);
            outcomes.push_back(with_progress(
                how, structure + ", ", load->requests(),
                [&](const lab::on_progress& shown) { return lab::simulate(*load, how, arranged, shown); }));
        }
    }
    const auto requests = outcomes.front().seen.requests;
    print(fmt::format("{} requests, {} simulated proxies of {} bytes\n\n{}", requests, a.base.proxies,
                      a.base.memory, lab::simulated_table(outcomes)));
}

void replay(const replay_arguments& a) {
    if (a.base.proxies > most_real_proxies)
        throw failure(fmt::format("replay: at most {} real proxies; --simulate has more", most_real_proxies));
    if (!a.report.empty()) check_gnuplot();
    constexpr std::size_t made_up_requests = 3000, made_up_objects = 2000;
    const auto most = a.requests ? std::min(a.requests, made_up_requests) : made_up_requests;
    const auto trace = a.trace.empty() ? lab::made_up_trace(a.base.proxies, most, made_up_objects)
                                       : trace_of(a, 1'000'000'000);
    lab::experiment e{a.trace.empty() ? "a made-up trace" : fs::path(a.trace).filename().string(), {}};
    for (const lab::setting& how : settings_of(a))
        e.outcomes.push_back(
            with_progress(how, "", trace.requests.size(),
                          [&](const lab::on_progress& shown) { return lab::run(trace, how, shown); }));
    print(lab::markdown(e));
    if (!a.report.empty()) {
        write_report(e, a.report);
        print(fmt::format("\nreport: {}/replay.html\n", a.report));
    }
    for (const auto& o : e.outcomes) {
        if (o.wrong) throw failure(fmt::format("{} answers were not the origin's", o.wrong));
    }
}

// What is compared.
void add_comparison_options(command_line& command, replay_arguments& a) {
    command
        .add_option("--sharing", a.sharing,
                    "Ways of sharing to compare, separated by commas: none; full, an uncoded filter; "
                    "compressed, a coded filter; delta, a coded filter and then its changes; ask: no "
                    "summary, and every other proxy is asked for every object")
        .separated_by(',')
        .one_of(names_of<node::sharing>())
        .shows_default();
    command
        .add_option("--change SHARE", a.change,
                    "Compare these shares of the set that have to change before a new summary is published, "
                    "separated by commas")
        .separated_by(',')
        .between(0.0001, 1.0)
        .shows_default();
    command
        .add_option("--change-bits SHARE", a.change_bits,
                    "Compare also these shares of a summary's bits that have to change before a new one is "
                    "published, separated by commas, e.g. 0.001 (default: none)")
        .separated_by(',')
        .between(0.000001, 0.5);
    command
        .add_option(
            "--misled N", a.misled,
            "Compare also these numbers of requests that a summary has to mislead before a new one is "
            "published, separated by commas, e.g. 5,20 (default: none)")
        .separated_by(',')
        .between(1, 65'535);
}

// What a simulation has and real proxies do not.
void add_simulation_options(command_line& command, replay_arguments& a) {
    command
        .add_flag("--simulate", a.simulate,
                  "Simulate the proxies in this process, without connections, bodies and time: for more "
                  "proxies and requests than real ones can have (default: off)")
        .excludes("--report");
    command
        .add_option(
            "--structure", a.structures,
            "With --simulate, who tells whom, separated by commas: mesh, every proxy every other; "
            "cells, every proxy those of its group; groups, the same, and leaders tell each other the "
            "unions of their groups; tree, the same, and leaders tell a root")
        .separated_by(',')
        .one_of(names_of<lab::structure>())
        .shows_default();
    command.add_option("--group N", a.arranged.group, "With --simulate, proxies in a group")
        .between(1, 1000)
        .shows_default();
    add_amount(command, "--objects N", a.made_up.objects,
               "With --simulate and no TRACE, objects that clients of all proxies ask for; those of single "
               "proxies are as many together")
        .shows_default();
    command
        .add_option("--zipf EXPONENT", a.made_up.zipf,
                    "With --simulate and no TRACE, how fast popularity falls with rank")
        .between(0.0, 3.0)
        .shows_default();
    command
        .add_option("--mean-size BYTES", a.made_up.mean_bytes,
                    "With --simulate and no TRACE, mean size of an object in bytes; sizes are lognormal")
        .between(1.0, 1e9)
        .shows_default();
    command
        .add_option(
            "--local SHARE", a.made_up.local,
            "With --simulate and no TRACE, share of the requests for objects that only the clients of "
            "one proxy ask for")
        .between(0.0, 1.0)
        .shows_default();
    command.add_option("--seed N", a.made_up.seed, "With --simulate and no TRACE, seed of what is made up")
        .shows_default();
    for (const auto* own :
         {"--structure", "--group", "--objects", "--zipf", "--mean-size", "--local", "--seed"})
        command.find(own).needs("--simulate");
}

}  // namespace

void add_replay(command_line& app) {
    command_line command = add_command(
        app, "replay", "Compare ways of sharing summaries: replay a trace through real proxies and an origin",
        "  posy replay\n"
        "  posy replay trace.tsv.gz --sharing none,delta --change 0.02,0.05,0.1 --report out\n"
        "  posy replay access.log --proxies 5 --memory 64MiB\n"
        "  posy replay --simulate --proxies 100 --requests 10M --sharing delta --structure mesh,groups");
    auto a = std::make_shared<replay_arguments>();
    command.add_option(
        "TRACE", a->trace,
        "File of requests: a table whose first line names its columns (object or url; proxy or host; "
        "bytes), or a log in the common format; gzipped or not (default: a small made-up trace)");
    add_comparison_options(command, *a);
    command
        .add_option("--proxies N", a->base.proxies,
                    "Number of proxies, up to 64; with --simulate, up to 1000")
        .between(1, 1000)
        .shows_default();
    add_amount(command, "--memory SIZE", a->base.memory,
               "Memory for objects in each proxy, in bytes, e.g. 64MiB (default: 16M)");
    add_amount(command, "--items N", a->base.items, "Objects that the summary of each proxy is planned for")
        .shows_default();
    command.add_option("--fpr RATE", a->base.rate, "False-positive rate of each summary").shows_default();
    command.add_flag("--keep-siblings", a->base.keep_siblings,
                     "Proxies also store answers that came from siblings (default: off)");
    command
        .add_option("--concurrency N", a->base.concurrency,
                    "Requests in flight at a time; with more than one the order of the trace is lost and "
                    "false misses "
                    "are not counted")
        .between(1, 1000)
        .shows_default();
    add_amount(
        command, "--requests N", a->requests,
        "Replay at most this many requests of the trace, e.g. 10k (default: all); with --simulate and no "
        "TRACE, so many are made up (default: 1M)");
    command.add_option("--report FOLDER", a->report,
                       "Folder for a report in Markdown, HTML, SVG and CSV (default: none); needs gnuplot");
    add_simulation_options(command, *a);
    command.add_option("--as-origin PORT", a->as_origin, "Be the origin of a laboratory, on this port")
        .hidden();
    command.runs([a] {
        std::signal(SIGPIPE, SIG_IGN);  // a proxy that hangs up is counted
        if (a->as_origin) return lab::serve_origin({"127.0.0.1", a->as_origin});
        a->simulate ? simulate(*a) : replay(*a);
    });
}

}  // namespace posy::tool
