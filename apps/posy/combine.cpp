// posy union, intersect, fold: set algebra on files.
#include "posy/algebra.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

using combination = result<void> (*)(bloom_filter&, const bloom_filter&);

void add_combination(CLI::App& app, const std::string& name, const std::string& what,
                     const std::string& examples, combination combine) {
    struct state {
        std::vector<std::string> files;
        std::string output;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command = add_command(app, name, what, examples);
    command
        ->add_option("FILES", s->files,
                     "Filters of one geometry; - for standard input, and each may hold several")
        ->required();
    command->add_option("-o,--output", s->output, "File to write; - for standard output")->default_val("-");
    command->callback([s, combine] {
        std::optional<bloom_filter> all;
        for_each_message(s->files, [&](message next, const std::string& file) {
            auto filter = plain_of(std::move(next.body), file);
            if (!all) {
                all = std::move(filter);
            } else {
                take(combine(*all, filter), file);
            }
        });
        save_body(s->output, *all);
    });
}

void add_fold(CLI::App& app) {
    struct state {
        std::string file, output;
        std::uint64_t by = 2;
    };
    const auto s = std::make_shared<state>();
    CLI::App* command =
        add_command(app, "fold", "Make a filter smaller: the same set in fewer bits",
                    "  posy fold big.posy -o half.posy\n"
                    "  posy fold big.posy --by 10 -o tenth.posy\n"
                    "The result is, bit for bit, the filter that would have been built at that size.");
    command->add_option("FILE", s->file, "The filter; - for standard input")->required();
    command->add_option("--by", s->by, "How many times smaller; must divide the size")
        ->check(CLI::Range(std::uint64_t{1}, max_bits))
        ->capture_default_str();
    command->add_option("-o,--output", s->output, "File to write; - for standard output")->default_val("-");
    command->callback(
        [s] { save_body(s->output, take(fold(load_plain(s->file), s->by), display_name(s->file))); });
}

}  // namespace

void add_combine(CLI::App& app) {
    add_combination(
        app, "union", "Unite filters: exactly the filter of the united sets",
        "  posy union monday.posy tuesday.posy -o week.posy\n"
        "  cat part-*.posy | posy union - -o all.posy              the reducer of a map-reduce job",
        unite);
    add_combination(app, "intersect", "Intersect filters: contains the common keys, and a few more",
                    "  posy intersect a.posy b.posy -o common.posy", intersect);
    add_fold(app);
}

}  // namespace posy::tool
