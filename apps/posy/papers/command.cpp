// posy papers: the tables, figures and simulations of the papers that Posy is built on, computed again.
#include "chapters.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "catalogue.hpp"
#include "gnuplot.hpp"
#include "numbers.hpp"
#include "posy/base/machine.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;

struct chapter {
    std::string_view name;
    void (*ask)(papers::laboratory&);
    papers::section (*write)(const papers::laboratory&);
};
constexpr auto nothing = [](papers::laboratory&) {};
constexpr std::array chapters{
    chapter{"formulas", nothing, papers::write_formulas},
    chapter{"bounds", nothing, papers::write_bounds},
    chapter{"fan1998", papers::ask_fan, papers::write_fan},
    chapter{"mitzenmacher2002", papers::ask_mitzenmacher, papers::write_mitzenmacher},
    chapter{"limits", papers::ask_limits, papers::write_limits},
    chapter{"simulation", papers::ask_simulation, papers::write_simulation},
    chapter{"survey", papers::ask_survey, papers::write_survey},
    chapter{"sets", nothing, papers::write_sets},
    chapter{"slides", papers::ask_slides, papers::write_slides},
    chapter{"hadoop", nothing, papers::write_hadoop},
    chapter{"counters", nothing, papers::write_counters},
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
        text += fmt::format("{:<18}{}: {} of {} printed entries are their formula, {}\n", name, what, a.right,
                            a.entries,
                            a.misprints.size() == 1 ? "1 is a misprint"
                                                    : fmt::format("{} are misprints", a.misprints.size()));
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
        text += fmt::format("\n{}, n = {}, bytes\n{}\n", papers::several(lab.trials(), "trial"),
                            count(static_cast<double>(papers::items)), table(rows));
    }
    return text;
}

// The catalogue: for a terminal, and as the first section of a report of these chapters.
std::string listed() {
    const auto line = [](std::string_view document, std::string_view where, std::string_view kind,
                         std::string_view section, std::string_view what) {
        return fmt::format("{:<26}{:<38}{:<12}{:<64}{}\n", document, where, kind, section, what);
    };
    std::string text = line("document", "where", "kind", "section of the report", "what");
    for (const auto& e : papers::catalogue()) {
        text += line(e.document, e.where, e.kind, papers::heading_of(e.section), e.what);
    }
    return text;
}

// When the report is made; SOURCE_DATE_EPOCH, if set, says so for reports that are to be reproduced.
std::string date() {
    std::time_t when = std::time(nullptr);
    if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH")) {
        const auto seconds = parse_decimal(fixed, 0);
        if (!seconds || *seconds > 253'402'300'799)  // the end of the year 9999
            throw failure(std::string("SOURCE_DATE_EPOCH=") + fixed + ": give the seconds since 1970");
        when = static_cast<std::time_t>(*seconds);
    }
    std::tm utc{};
    gmtime_r(&when, &utc);
    return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

std::vector<std::string> about(std::uint64_t trials) {
    return {
        fmt::format("Version: posy {}", POSY_VERSION),
        trials == 0 ? "Trials: none, formulas alone"
                    : fmt::format("Trials: {} of each simulation; a hundredth of them for a column of a "
                                  "table, a thousandth for a rate",
                                  count(static_cast<double>(trials))),
        "Seeds: trial i of a simulation has the seed i, from 0 on; every other experiment has fixed seeds "
        "of its own, so that the same trials give the same report",
        "Date: " + date()};
}

papers::section index_of(const std::vector<std::string>& names) {
    papers::section s{"What is where", {}};
    s.parts.emplace_back(papers::paragraph{
        "Every table, figure and formula of the five documents, and the section that has it: L. Fan, P. Cao, "
        "J. Almeida, A. Broder, Summary Cache (1998), the mathematics; M. Mitzenmacher, Compressed Bloom "
        "Filters (2002); A. Broder, M. Mitzenmacher, Network Applications of Bloom Filters: A Survey (2004); "
        "S. Lam, Bloom Filters, slides (2017); D. Miner, A. Shook, MapReduce Design Patterns (2012), "
        "appendix A. Displayed formulas are numbered in the order of the document; text is what a sentence "
        "says."});
    papers::table t{"", {{"document", "where", "kind", "what", "section"}}, true};
    papers::data d{"catalogue", {{"document", "where", "kind", "what", "section", "number"}}};
    for (const auto& e : papers::catalogue()) {
        const std::string number = papers::number_of(e.section);
        d.rows.push_back({std::string(e.document), std::string(e.where), std::string(e.kind),
                          std::string(e.what), std::string(e.section), number});
        const std::string chapter(e.section.substr(0, e.section.find('/')));
        const bool written = std::ranges::find(names, chapter) != names.end();
        papers::cell place(written ? papers::heading_of(e.section)
                                   : "chapter " + chapter + ", not in this run");
        if (written) place.link = e.section;
        t.rows.push_back(
            {std::string(e.document), std::string(e.where), std::string(e.kind), std::string(e.what), place});
    }
    s.parts.emplace_back(std::move(t));
    s.parts.emplace_back(std::move(d));
    return s;
}

}  // namespace

void add_papers(command_line& app) {
    struct state {
        std::string output = "posy-papers";
        std::uint64_t trials = 100'000;
        std::vector<std::string> only;
        unsigned threads = 0;
        bool list = false;
    };
    const auto s = std::make_shared<state>();
    command_line command =
        add_command(app, "papers", "Compute the papers' tables, figures and simulations again",
                    "  posy papers                                          everything, some minutes\n"
                    "  posy papers --trials 1000 -o quick                   a hundredth of the trials\n"
                    "  posy papers --only fan1998,slides --trials 0         formulas alone\n"
                    "  posy papers --list                                   what is where, and no report");
    command.add_option("-o,--output FILE", s->output, "Directory for the report, its pictures and its data")
        .shows_default();
    add_amount(command, "--trials N", s->trials,
               "Number of filters that each simulation builds; 0 for formulas alone")
        .shows_default();
    command.add_option("--only", s->only, "Chapters to write, separated by commas (default: all)")
        .separated_by(',')
        .one_of(chapter_names());
    command
        .add_flag("--list", s->list,
                  "Write no report; list every table, figure and formula of the documents with its section")
        .excludes("--output")
        .excludes("--trials")
        .excludes("--only");
    add_threads(command, s->threads);
    command.runs([s] {
        if (s->list) return print(listed());
        const auto names = s->only.empty() ? chapter_names() : s->only;
        if (s->trials > 10'000'000) throw failure("papers: --trials must be at most 10000000");
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
        lab.run(s->threads != 0 ? s->threads : base::usable_cores());
        papers::report report{"The papers, computed again", about(s->trials), {index_of(names)}};
        for (const chapter* c : chosen) {
            report.sections.push_back(c->write(lab));
            report.sections.back().title = papers::number_of(c->name) + " " + report.sections.back().title;
        }
        papers::write(report, s->output);
        print(summary(lab, names) + "The report: " + (fs::path(s->output) / "report.html").string() + "\n");
    });
}

}  // namespace posy::tool
