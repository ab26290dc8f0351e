// posy simulate: a system of docs/networks.md on a simulated network, and what it shows beside theory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gnuplot.hpp"
#include "numbers.hpp"
#include "simulate/systems.hpp"
#include "simulate_plot.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using json = nlohmann::ordered_json;

struct simulate_arguments {
    std::string system, plot;
    std::uint64_t nodes = 0, objects = 0, queries = 0;
    simulate::options options;
    bool list = false, as_json = false;
};

std::string list_of_systems() {
    std::size_t widest = 0;
    for (const auto& s : simulate::systems()) widest = std::max(widest, s.name.size());
    std::string text;
    for (const auto& s : simulate::systems()) text += fmt::format("{:{}}  {}\n", s.name, widest, s.what);
    return text;
}

// What is not finite is null.
json number(std::optional<double> x) { return x && std::isfinite(*x) ? json(*x) : json(nullptr); }

json to_json(const simulate::plot& p) {
    json curves = json::array();
    for (const auto& c : p.curves) curves.push_back({{"name", c.name}, {"points", c.points}});
    return {{"title", p.title}, {"x", p.x}, {"y", p.y}, {"curves", curves}};
}

json to_json(const simulate::report& r) {
    json figures = json::array(), plots = json::array();
    for (const auto& f : r.figures) {
        figures.push_back({{"name", f.name},
                           {"measured", number(f.measured)},
                           {"predicted", number(f.predicted)},
                           {"deviation", number(f.deviation)},
                           {"unit", f.unit}});
    }
    for (const auto& p : r.plots) plots.push_back(to_json(p));
    return {{"system", r.system}, {"what", r.what}, {"figures", figures}, {"plots", plots}};
}

std::vector<std::string> names_of_systems() {
    std::vector<std::string> names;
    for (const auto& system : simulate::systems()) names.emplace_back(system.name);
    return names;
}

// An option that a system does not heed is an error: its figures would not be what was asked for.
void check_options(const simulate::system& system, const command_line& command) {
    for (const char* name : {"--nodes", "--objects", "--queries", "--loss", "--churn", "--texts"}) {
        if (!command.given(name) || std::ranges::find(system.takes, name) != system.takes.end()) continue;
        throw wrong_use(
            fmt::format("'{}' has no {}; it takes {}", system.name, name, fmt::join(system.takes, ", ")));
    }
}

void simulate_system(const simulate_arguments& a, const command_line& command) {
    const auto* system = simulate::find_system(a.system);
    check_options(*system, command);
    if (!a.plot.empty()) check_gnuplot();
    const simulate::report r = system->run(a.options);
    print(a.as_json ? to_json(r).dump(2) + "\n" : simulate::table(r));
    if (!a.plot.empty()) draw_report(r, a.plot);
}

}  // namespace

void add_simulate(command_line& app) {
    command_line command = add_command(
        app, "simulate", "Run a networked system on a simulated network and compare it with theory",
        "  posy simulate --list\n"
        "  posy simulate tree --nodes 1000 --objects 100k\n"
        "  posy simulate attenuated --seed 7 --plot attenuated.svg --json");
    auto a = std::make_shared<simulate_arguments>();
    command.add_option("SYSTEM", a->system, "Name of the system (default: list the systems)")
        .one_of(names_of_systems());
    command.add_flag("--list", a->list, "List the systems, one per line");
    add_amount(command, "--nodes N", a->nodes, "Number of nodes, e.g. 10k (default: the system's own)");
    add_amount(command, "--objects N", a->objects, "Number of objects, e.g. 1M (default: the system's own)");
    add_amount(command, "--queries N", a->queries, "Number of queries (default: the system's own)");
    command.add_option("--seed N", a->options.seed, "Seed of everything random").shows_default();
    command.add_option("--loss SHARE", a->options.loss, "Share of the messages that the network loses")
        .between(0, 0.9)
        .shows_default();
    command.add_option("--churn SHARE", a->options.churn, "Share of the nodes replaced per simulated hour")
        .between(0, 1)
        .shows_default();
    command
        .add_option("--texts FOLDER", a->options.texts,
                    "Folder whose text files 'ranking' and 'keywords' search")
        .shows_default();
    command.add_flag("--json", a->as_json, "Print one JSON object");
    command.add_option(
        "--plot FILE", a->plot,
        "Write an SVG picture to this file: every figure measured beside predicted, and the curves; needs "
        "gnuplot (default: no picture)");
    command.runs([a, command] {
        if (a->list || a->system.empty()) return print(list_of_systems());
        if (command.given("--nodes")) a->options.nodes = a->nodes;
        if (command.given("--objects")) a->options.objects = a->objects;
        if (command.given("--queries")) a->options.queries = a->queries;
        simulate_system(*a, command);
    });
}

}  // namespace posy::tool
