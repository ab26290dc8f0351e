// posy tour: all of posy in less than a minute, on data that the tour makes, in 80 columns.
//
// Every command that is shown is run, by this program, in a directory that is removed afterwards; the picture
// is of filters that are built for it.
#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "posy/plan.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

namespace fs = std::filesystem;

class workshop {
  public:
    workshop() {
        std::string name = (fs::temp_directory_path() / "posy-tour-XXXXXX").string();
        if (!mkdtemp(name.data())) throw failure("cannot make a directory for the tour in " + name);
        directory_ = name;
        fs::create_directory(directory_ / "bin");
        fs::create_symlink(fs::read_symlink("/proc/self/exe"), directory_ / "bin" / "posy");
        const char* path = std::getenv("PATH");
        setenv("PATH", ((directory_ / "bin").string() + ":" + (path ? path : "/usr/bin:/bin")).c_str(), 1);
        fs::current_path(directory_);
    }
    ~workshop() {
        std::error_code ignored;
        fs::current_path(fs::temp_directory_path(), ignored);
        fs::remove_all(directory_, ignored);
    }
    workshop(const workshop&) = delete;
    workshop& operator=(const workshop&) = delete;

  private:
    fs::path directory_;
};

// Colours, for a terminal whose owner wants them (no-color.org).
class guide {
  public:
    guide() {
        const char* refused = std::getenv("NO_COLOR");
        const char* terminal = std::getenv("TERM");
        colours_ = isatty(STDOUT_FILENO) && !(refused && *refused) &&
                   !(terminal && std::string_view(terminal) == "dumb");
    }
    void title(std::string_view text) const { print("\n" + in(bold_violet, text) + "\n"); }
    void say(std::string_view text) const { print(fmt::format("{}\n\n", text)); }
    // Shows a command and runs it. Statuses 0 and 1 are answers.
    void show(const std::string& command) const {
        std::string lines = "$ " + command;
        for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 5)
            lines.replace(at, 1, "\n    ");
        print("    " + in(green, lines) + "\n");
        // The status of the pipe would be that of sed.
        const std::string all = "{ " + command + "\necho $? > status; } 2>&1 | fold -sw 76 | sed 's/^/    /'";
        int status = 2;
        if (std::system(all.c_str()) == 0) std::ifstream("status") >> status;
        if (status > 1) throw failure("the tour ended, because this command failed: " + command);
    }
    std::string bar(std::size_t length) const {
        std::string text;
        for (std::size_t i = 0; i < length; ++i) text += "█";
        return in(violet, text);
    }

  private:
    static constexpr std::string_view bold_violet = "1;35", violet = "35", green = "32";

    std::string in(std::string_view colour, std::string_view text) const {
        return colours_ ? fmt::format("\033[{}m{}\033[0m", colour, text) : std::string(text);
    }

    bool colours_ = false;
};

// Pages seen on two days: 200,000 each, 60,000 of them on both. And a log of an hour, whose sites are visited
// very unevenly.
void write_days() {
    std::ofstream monday("monday.txt"), tuesday("tuesday.txt"), absent("absent.txt"), log("log.csv");
    const auto page = [](std::uint64_t i) {
        std::mt19937_64 random(i);
        return fmt::format("http://site{}.example/page/{:x}\n", random() % 5000, random());
    };
    for (std::uint64_t i = 0; i < 200'000; ++i) monday << page(i);
    for (std::uint64_t i = 140'000; i < 340'000; ++i) tuesday << page(i);
    for (std::uint64_t i = 1'000'000; i < 2'000'000; ++i) absent << page(i);
    std::mt19937_64 random(1);
    log << "second,site\n";
    for (std::uint64_t i = 0; i < 36'000; ++i) {
        const double share = static_cast<double>(random() >> 11) / 9007199254740992.0;
        log << fmt::format("{},site{}.example\n", i / 10, static_cast<unsigned>(std::pow(5000, share)));
    }
}

// Filters of several sizes, planned, built and asked: a bar is as long as the logarithm of "1 in N".
void draw_rates(const guide& to) {
    constexpr std::uint64_t items = 20'000, asked = 2'000'000;
    std::vector<std::uint64_t> keys(items + asked);
    std::iota(keys.begin(), keys.end(), std::uint64_t{0});
    std::vector<digest> digests(keys.size());
    const std::unique_ptr<bool[]> answers(new bool[asked]);
    print("    bits per item  1 in: planned  measured\n");
    for (const double bits : {4, 6, 8, 10, 12, 14, 16}) {
        const plan p = take(choose({.items = items, .bits_per_item = bits}), "tour");
        bloom_filter filter = take(bloom_filter::make(p.geometry()), "tour");
        filter.hash()(keys, digests);
        filter.insert(std::span(digests).first(items));
        const auto found = filter.may_contain(std::span(digests).last(asked), {answers.get(), asked});
        const double planned = 1 / p.false_positive_rate;
        print(fmt::format("    {:>13}  {:>13.1f}  {:>8.1f}  {}\n", bits, planned,
                          asked / std::max(1.0, static_cast<double>(found)),
                          to.bar(static_cast<std::size_t>(std::lround(10 * std::log10(planned))))));
    }
}

void plan_and_build(const guide& to) {
    to.title("Plan");
    to.say("What does one false positive in a hundred cost?");
    to.show("posy plan --items 200k --fpr 0.01 | head -n 11");
    to.title("Build");
    to.say("What is planned is what you get.");
    to.show("posy build monday.txt --fpr 0.01 -o monday.posy");
    to.show("posy info monday.posy");
    to.title("Ask");
    to.say(
        "Every page of Monday is found. Of a million absent pages, one in a hundred is\n"
        "mistaken for one.");
    to.show("posy query -c monday.posy monday.txt");
    to.show("posy query -c monday.posy absent.txt");
    to.title("A picture");
    to.say("Filters of seven sizes, built and asked two million times each.");
    draw_rates(to);
}

void compare_and_change(const guide& to) {
    to.title("Compare and unite");
    to.say(
        "Two days without their lists. The truth: 60,000 pages in common, 340,000 in\n"
        "all. Filters unite like sets, through pipes, files or ssh; one that then holds\n"
        "more than it was planned for says so.");
    to.show("posy build tuesday.txt --items 200k --fpr 0.01 -o tuesday.posy");
    to.show("posy compare monday.posy tuesday.posy");
    to.show("cat monday.posy tuesday.posy | posy union - -o both.posy");
    to.title("Remove");
    to.say("A counting filter forgets, and refuses to forget what it never knew.");
    to.show("posy build monday.txt --counting -o live.posy");
    to.show("head -n 1000 monday.txt > gone.txt; posy remove live.posy gone.txt");
    to.show("posy query -c live.posy gone.txt");
    to.show("head -n 3 absent.txt | posy remove live.posy");
    to.title("Words");
    to.say("The dictionary is one line; -v prints what is certainly not in it.");
    to.show("echo 'a filter that travels is a letter' |\n  posy build --words --fpr 1e-6 -o dict.posy");
    to.show("echo 'a fliter that travels is a ltter' | posy query -v --words dict.posy");
    to.show("echo fliter | posy query --near dict.posy");
}

void travel(const guide& to) {
    to.title("Travel");
    to.say(
        "A filter that is sent is larger, sparser and coded, and a change of 5 % costs\n"
        "a fraction of it. A packet keeps its budget.");
    to.show("{ tail -n +10001 monday.txt; head -n 10000 absent.txt; } > later.txt");
    to.show(
        "for f in monday later; do\n"
        "  posy build $f.txt -n 200k -b 32 -k 2 --layout spread -o $f.posy; done");
    to.show("posy pack monday.posy -o monday.packed");
    to.show("posy delta monday.posy later.posy -o change.posy");
    to.show("wc -c monday.posy monday.packed change.posy");
    to.show("posy apply monday.packed change.posy -o arrived.posy");
    to.show("cmp arrived.posy later.posy && echo arrived");
    to.show("posy pack --from-keys gone.txt --max-bytes 1400 -o packet.posy");
    to.show("wc -c < packet.posy");
    to.title("Seal");
    to.say("A set that will not change, in the fewest bits; with a value per key, a map.");
    to.show("posy seal monday.txt --fpr 0.01 -o sealed.posy; wc -c < sealed.posy");
    to.show("printf 'apple,3\\npear,5\\n' | posy seal --csv --values -o prices.posy");
    to.show("printf 'pear\\nplum\\n' | posy query prices.posy");
    to.title("Reconcile");
    to.say(
        "Two machines find out what each lacks; the bytes depend on the difference,\n"
        "not on the 200,000 pages.");
    to.show("sed '3d; 5s/$/-new/' monday.txt > elsewhere.txt");
    to.show("posy reconcile -v monday.txt elsewhere.txt");
}

void stream(const guide& to) {
    to.title("Count");
    to.say("The busiest sites of a log, from a sketch of a fixed size.");
    to.show("posy count log.csv --field site --top 5");
    to.title("Seen");
    to.say("Of 36,000 visits in an hour: those of sites not seen for ten minutes.");
    to.show(
        "posy seen log.csv --field site --time-field second --window 10m \\\n"
        "  --items 4k | wc -l");
}

void run() {
    const workshop shop;
    const guide to;
    print("Posy: sets in a few bits per item, built to travel.\n");
    write_days();
    to.say("\nTwo days of web pages, 200,000 addresses each, and a million that were not seen:");
    to.show("wc -lc monday.txt tuesday.txt absent.txt");
    plan_and_build(to);
    compare_and_change(to);
    travel(to);
    stream(to);
#ifdef POSY_NODE
    to.title("Together");
    to.say(
        "Three caching proxies and an origin, as processes of this machine: alone, and\n"
        "with summaries that cost a few bytes per request.");
    to.show("posy replay --sharing none,delta --change 0.02 | cut -d'|' -f 2-6,10");
    to.say("\n'posy proxy' is such a proxy, and http://127.0.0.1:3128/ then its live page.");
#endif
    to.say(
        "Next: 'posy plan --help' and docs/tool.md for the tool, docs/maths.md for why\n"
        "the numbers hold, README.md for ten lines of C++.");
}

}  // namespace

void add_tour(command_line& app) {
    command_line command =
        add_command(app, "tour", "Show the main commands in less than a minute, on made-up data",
                    "  posy tour                 in colour on a terminal, unless NO_COLOR is set\n"
                    "  posy tour | less");
    command.runs([] { run(); });
}

}  // namespace posy::tool
