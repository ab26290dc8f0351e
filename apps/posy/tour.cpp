// posy tour: all of posy in two minutes, on data that the tour makes.
//
// Every command that is shown is run, by this program, in a directory that is removed afterwards.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

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

void say(std::string_view text) { print(fmt::format("\n{}\n\n", text)); }

// Shows a command and runs it. Statuses 0 and 1 are answers.
void show(const std::string& command) {
    print("    $ " + command + "\n");
    const int status = std::system(("{ " + command + "; } 2>&1 | sed 's/^/    /'").c_str());
    if (WEXITSTATUS(status) > 1) throw failure("the tour ended, because this command failed: " + command);
}

// Pages seen on two days: 200,000 each, 60,000 of them on both.
void write_days() {
    std::ofstream monday("monday.txt"), tuesday("tuesday.txt"), absent("absent.txt");
    const auto page = [](std::uint64_t i) {
        std::mt19937_64 random(i);
        return fmt::format("http://site{}.example/page/{:x}\n", random() % 5000, random());
    };
    for (std::uint64_t i = 0; i < 200'000; ++i) monday << page(i);
    for (std::uint64_t i = 140'000; i < 340'000; ++i) tuesday << page(i);
    for (std::uint64_t i = 1'000'000; i < 2'000'000; ++i) absent << page(i);
}

void run() {
    const workshop shop;
    print("Posy: sets in a few bits per item, built to travel.\n");
    write_days();
    say("Two days of web pages, 200,000 addresses each, and a million that were not seen:");
    show("wc -lc monday.txt tuesday.txt absent.txt");

    say("1. Plan. What does one false positive in a hundred cost, and what else could you have?");
    show("posy plan --items 200k --fpr 0.01");

    say("2. Build, and look: what is planned is what you get.");
    show("posy build monday.txt --fpr 0.01 -o monday.posy");
    show("posy info monday.posy");

    say("3. Ask. Every page of Monday is found; of a million absent pages one in a hundred is mistaken for "
        "one.");
    show("posy query -c monday.posy monday.txt");
    show("posy query -c monday.posy absent.txt");

    say("4. Compare two days without their lists. The truth: 60,000 pages in common, 340,000 in all.");
    show("posy build tuesday.txt --items 200k --fpr 0.01 -o tuesday.posy");
    show("posy compare monday.posy tuesday.posy");

    say("5. Algebra. Filters unite like sets, through pipes, files or ssh: a reducer in one line.");
    show("cat monday.posy tuesday.posy | posy union - -o both.posy");
    show("cat monday.txt tuesday.txt | posy query -v -c both.posy");

    say("6. Change. A counting filter forgets, and refuses to forget what it never knew.");
    show("posy build monday.txt --counting -o live.posy");
    show("head -n 1000 monday.txt > gone.txt; posy remove live.posy gone.txt");
    show("posy query -c live.posy gone.txt");
    show("head -n 3 absent.txt | posy remove live.posy");

    say("7. Spelling. The dictionary is one line; -v prints what is certainly not in it.");
    show("echo 'a filter that travels is a letter' | posy build --words --fpr 1e-6 -o dict.posy");
    show("echo 'a fliter that travels is a ltter' | posy query -v --words dict.posy");
    show("echo fliter | posy query --near dict.posy");

    say("8. Travel. A filter that is sent is larger, sparser, and coded; a change of 5 % costs a fraction of "
        "it.");
    show("tail -n +10001 monday.txt > later.txt; head -n 10000 absent.txt >> later.txt");
    show("for f in monday later; do posy build $f.txt -n 200k -b 32 -k 2 --layout spread -o $f.posy; done");
    show("posy pack monday.posy -o monday.packed; posy delta monday.posy later.posy -o change.posy");
    show("wc -c monday.posy monday.packed change.posy");
    show("posy apply monday.packed change.posy -o arrived.posy; cmp arrived.posy later.posy && echo arrived");
    show("posy pack --from-keys gone.txt --max-bytes 1400 -o packet.posy; wc -c < packet.posy");

#ifdef POSY_NODE
    say("9. Together. Three caching proxies and an origin, as processes of this machine: alone, and with "
        "summaries\n"
        "that cost a few bytes per request.");
    show("posy replay --sharing none,delta --change 0.02 | cut -d'|' -f 2-6,10");
    say("'posy proxy' is such a proxy, and http://127.0.0.1:3128/ then its live page.");
#endif

    say("Next: 'posy plan --help' and docs/tool.md for the tool, docs/maths.md for why the numbers hold,\n"
        "README.md for ten lines of C++.");
}

}  // namespace

void add_tour(command_line& app) {
    command_line command =
        add_command(app, "tour", "Show all of posy in two minutes, on made-up data", "  posy tour");
    command.runs([] { run(); });
}

}  // namespace posy::tool
