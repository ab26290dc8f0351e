// posy union, intersect, fold: set algebra on files.
#include "posy/algebra.hpp"
#include "tool.hpp"

namespace posy::tool {
namespace {

// The plain filter itself, or the projection of a counting one: the algebra is that of sets.
bloom_filter plain_of(any_filter filter, const std::string& name) {
    if (auto* plain = std::get_if<bloom_filter>(&filter)) return std::move(*plain);
    return take(std::get<counting_filter>(filter).projection().clone(), name);
}

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
        for_each_filter(s->files, [&](any_filter filter, const std::string& file) {
            if (!all) {
                all = plain_of(std::move(filter), file);
            } else {
                take(combine(*all, filter_ref(filter).plain()), file);
            }
        });
        save_filter(s->output, *all);
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
    command->add_option("--by", s->by, "How many times smaller; must divide the size")->capture_default_str();
    command->add_option("-o,--output", s->output, "File to write; - for standard output")->default_val("-");
    command->callback([s] {
        const any_filter filter = load_filter(s->file);
        save_filter(s->output, take(fold(filter_ref(filter).plain(), s->by), display_name(s->file)));
    });
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
