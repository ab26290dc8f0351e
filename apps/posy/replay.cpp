// posy replay: a laboratory of real proxies, an origin and a trace.
#include <fmt/core.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gnuplot.hpp"
#include "lab/laboratory.hpp"
#include "lab/origin.hpp"
#include "lab/report.hpp"
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
    lab::setting base;
    std::size_t requests = 1'000'000'000;
    std::uint16_t as_origin = 0;
};

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

void replay(const replay_arguments& a) {
    if (!a.report.empty()) check_gnuplot();
    constexpr std::size_t made_up_requests = 3000, made_up_objects = 2000;
    const auto trace =
        a.trace.empty()
            ? lab::made_up_trace(a.base.proxies, std::min(a.requests, made_up_requests), made_up_objects)
            : lab::read_trace(a.trace, a.base.proxies, a.requests);
    lab::experiment e{a.trace.empty() ? "a made-up trace" : fs::path(a.trace).filename().string(), {}};
    for (const auto& sharing : a.sharing) {
        std::vector<lab::setting> settings;
        const auto setting = [&]() -> lab::setting& {
            settings.push_back(a.base);
            settings.back().sharing = *named<node::sharing>(sharing);
            return settings.back();
        };
        for (const double change : a.change) setting().change = change;
        for (const double change : a.change_bits) setting().change_bits = change;
        for (const lab::setting& how : settings) {
            progress shown(fmt::format("{}, {}", sharing, lab::update_of(how)), trace.requests.size(),
                           progress::counting::work);
            std::size_t before = 0;
            e.outcomes.push_back(lab::run(trace, how, [&](std::size_t done) {
                shown.add(done - before);
                before = done;
            }));
            if (!how.updates()) break;  // there is nothing to update
        }
    }
    print(lab::markdown(e));
    if (!a.report.empty()) {
        write_report(e, a.report);
        print(fmt::format("\nreport: {}/replay.html\n", a.report));
    }
    for (const auto& o : e.outcomes) {
        if (o.wrong) throw failure(fmt::format("{} answers were not the origin's", o.wrong));
    }
}

}  // namespace

void add_replay(command_line& app) {
    command_line command = add_command(
        app, "replay", "Compare ways of sharing summaries: replay a trace through real proxies and an origin",
        "  posy replay\n"
        "  posy replay trace.tsv.gz --sharing none,delta --change 0.02,0.05,0.1 --report out\n"
        "  posy replay access.log --proxies 5 --memory 64MiB");
    auto a = std::make_shared<replay_arguments>();
    command.add_option(
        "TRACE", a->trace,
        "File of requests: a table whose first line names its columns (object or url; proxy or host; "
        "bytes), or a log in the common format; gzipped or not (default: a small made-up trace)");
    command
        .add_option("--sharing", a->sharing,
                    "Ways of sharing to compare, separated by commas: none; full, an uncoded filter; "
                    "compressed, a coded filter; delta, a coded filter and then its changes; ask: no "
                    "summary, and every other proxy is asked for every object")
        .separated_by(',')
        .one_of(names_of<node::sharing>())
        .shows_default();
    command
        .add_option("--change SHARE", a->change,
                    "Compare these shares of the set that have to change before a new summary is published, "
                    "separated by commas")
        .separated_by(',')
        .between(0.0001, 1.0)
        .shows_default();
    command
        .add_option("--change-bits SHARE", a->change_bits,
                    "Compare also these shares of a summary's bits that have to change before a new one is "
                    "published, separated by commas, e.g. 0.001 (default: none)")
        .separated_by(',')
        .between(0.000001, 0.5);
    command.add_option("--proxies N", a->base.proxies, "Number of proxies").between(1, 64).shows_default();
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
    add_amount(command, "--requests N", a->requests,
               "Replay at most this many requests of the trace, e.g. 10k (default: all)");
    command.add_option("--report FOLDER", a->report,
                       "Folder for a report in Markdown, HTML, SVG and CSV (default: none); needs gnuplot");
    command.add_option("--as-origin PORT", a->as_origin, "Be the origin of a laboratory, on this port")
        .hidden();
    command.runs([a] {
        std::signal(SIGPIPE, SIG_IGN);  // a proxy that hangs up is counted
        if (a->as_origin) return lab::serve_origin({"127.0.0.1", a->as_origin});
        replay(*a);
    });
}

}  // namespace posy::tool
