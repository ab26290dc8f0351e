// posy papers: the tables, figures and simulations of the papers that Posy is built on, computed again.
#include "papers.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <thread>

#include "gnuplot.hpp"
#include "text.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;

struct chapter {
    std::string_view name;
    void (*ask)(papers::laboratory&);
    papers::section (*write)(const papers::laboratory&);
};
constexpr std::array chapters{
    chapter{"fan1998", papers::ask_fan, papers::write_fan},
    chapter{"mitzenmacher2002", papers::ask_mitzenmacher, papers::write_mitzenmacher},
    chapter{"simulation", papers::ask_simulation, papers::write_simulation},
    chapter{"survey", papers::ask_survey, papers::write_survey},
    chapter{"slides", papers::ask_slides, papers::write_slides},
    chapter{"counters", [](papers::laboratory&) {}, papers::write_counters},
};

std::vector<std::string> chapter_names() {
    std::vector<std::string> names;
    names.reserve(chapters.size());
    for (const chapter& c : chapters) names.emplace_back(c.name);
    return names;
}

// What the terminal shows: the tables in a line each, the simulations in full.
std::string summary(const papers::laboratory& lab, const std::vector<std::string>& names) {
    const auto chosen = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
    std::string text;
    const auto line = [&](const char* name, const char* what, papers::source from) {
        if (!chosen(name)) return;
        const auto entries = papers::entries_of(from);
        const auto a = papers::compare(entries);
        text += fmt::format("{:<18}{}: {} of {} printed entries are their formula, {} are misprints\n", name,
                            what, a.right, a.entries, a.misprints.size());
    };
    line("fan1998", "Tables 3 to 5", papers::source::fan1998);
    line("mitzenmacher2002", "Tables I to VII", papers::source::mitzenmacher2002);
    line("survey", "Table 1", papers::source::broder2004);
    if (chosen("simulation") && lab.trials() != 0) {
        std::vector<std::vector<std::string>> rows;
        for (const auto& row : papers::simulation_table(lab).rows) {
            rows.emplace_back();
            for (const auto& cell : row) rows.back().push_back(cell.text);
        }
        text += fmt::format("\n{} trials, n = {}, bytes\n{}\n", count(static_cast<double>(lab.trials())),
                            count(static_cast<double>(papers::items)), table(rows));
    }
    return text;
}

}  // namespace

void add_papers(CLI::App& app) {
    struct state {
        std::string output = "posy-papers";
        std::uint64_t trials = 100'000;
        std::vector<std::string> only;
        unsigned threads = 0;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command =
        add_command(app, "papers", "Compute the papers' tables, figures and simulations again",
                    "  posy papers                                          everything, some minutes\n"
                    "  posy papers --trials 1000 -o quick                   a hundredth of the trials\n"
                    "  posy papers --only fan1998,slides --trials 0         formulas alone");
    command->add_option("-o,--output", s->output, "Directory for the report, its pictures and its data")
        ->capture_default_str();
    command
        ->add_option_function<std::string>(
            "--trials", [s](const std::string& text) { s->trials = parse_amount(text); },
            "Filters that each simulation builds (100000 unless told); 0 for formulas alone")
        ->type_name("N");
    command->add_option("--only", s->only, "Chapters, separated by commas")
        ->delimiter(',')
        ->check(CLI::IsMember(chapter_names()));
    command->add_option("--threads", s->threads, "How many threads to use (default: all cores)")
        ->check(CLI::Range(1, 1024));
    command->callback([s] {
        const auto names = s->only.empty() ? chapter_names() : s->only;
        if (s->trials > 10'000'000) throw failure("papers: at most ten million trials");
        check_gnuplot();
        std::error_code wrong;
        fs::create_directories(s->output, wrong);
        if (wrong) throw failure(s->output + ": " + wrong.message());
        check_output((fs::path(s->output) / "report.md").string());

        papers::laboratory lab(s->trials);
        std::vector<const chapter*> chosen;
        for (const chapter& c : chapters) {
            if (std::ranges::find(names, c.name) != names.end()) chosen.push_back(&c);
        }
        for (const chapter* c : chosen) c->ask(lab);
        lab.run(s->threads != 0 ? s->threads : std::max(1U, std::thread::hardware_concurrency()));
        papers::report report{"The papers, computed again", {}};
        for (const chapter* c : chosen) report.sections.push_back(c->write(lab));
        papers::write(report, s->output);
        print(summary(lab, names) + "The report: " + (fs::path(s->output) / "report.html").string() + "\n");
    });
}

}  // namespace posy::tool
